r"""Templates of the labelled set, one a line: `{sort}` is filled with a made-up value of that sort.

`\n` and `\u200b` stand for a line end and an invisible character.
"""

WITH_SECRETS = r"""
密码是{password}
密码：{password}
密码 {password}
密码为 {password} ，别外传
我的密码是{password}，记一下
邮箱密码改成了{password}
登录密码换成 {password} 了
新密码设置为：{password}
路由器密码还是{password}没变
公司 VPN 密码现在是 {password}。
家里WiFi密码{password}
家里的 Wi-Fi 密码：{password}，客人来了告诉他们
账号 admin 密码 {password}
用户名：lihua，密码：{password}
账号/密码：zhangsan / {password}
密码（测试环境）：{password}
服务器 root 密码“{password}”
解压密码：{password}
锁屏密码是{otp}
银行卡的支付密码是 {otp}，不要告诉别人
门禁密码是 {otp}
取款密码{otp}
手机的 PIN 码是 {otp}
百度网盘链接在群里，提取码：{password}
口令是 {password}
口令：{verse}
{password} 是我的密码
用 {password} 作为密码登录
忘了密码？就是{password}
密码我设成了{password}
数据库 password={password}
在密码框输入 {password} 后点登录
把 {password} 填进密码框
输入“{password}”到密码栏
密码从 {password} 改成 {password}
登录密码我一般用{password}
卡密：{password}
老板的电脑密码我记得是{password}
打印机管理员密码默认{password}
【某商城】{otp}（登录验证码，请勿转发）
百度云 AK：{hex}
地图的 key 是 {hex}
pwd：{password}
后台的 pw 是 {password}
密码是 {wide}
密码：{hidden}
验证码 {otp}
验证码是{otp}
您的验证码为{otp}，5分钟内有效，请勿泄露。
【某某银行】验证码：{otp}，您正在登录手机银行。
短信验证码收到了，{otp}
动态密码 {otp}，请在 60 秒内输入
校验码：{otp}（10分钟内有效）
{otp}是您本次登录的验证码
请输入 {otp} 完成验证
一次性密码为 {otp}
登录码是「{otp}」
安全码: {otp}
助记词：{phrase}
钱包的助记词是 {phrase}
我的 API 密钥是 {token}
密钥：{token}
访问令牌 {token}
令牌是 {token}
这个 token：{token}
应用的 AppSecret：{hex}
小程序 appsecret={hex}
阿里的 access key secret 是 {token}
把 {github} 填进去就能推代码
DeepSeek 的 key：{openai}
腾讯云 {tencent} 已经启用
用这个{google}调地图接口
机器人令牌{slack}。
登录后拿到{jwt}就行
授权码：{token}
激活码：{token}
请求头 Authorization: Bearer {token}
请求头里放 Authorization: Basic {basic}
Cookie 是 sessionid={token}
浏览器里的 cookie：SESSDATA={token}
数据库连接串 postgres://app:{password}@db.internal:5432/prod
代理地址是http://user:{password}@10.0.0.1:8080
回调 https://example.com/cb?access_token={token}
钉钉机器人 https://oapi.example.com/robot/send?access_token={token}
下面是私钥：\n{pem}\n收好
身份证号是{id_number}
身份证{id_number}请核对
他的证件号码：{id_number}，已登记
{id_number}
银行卡号{card}
工资打到 {card_groups} 这张卡
卡号：{card}，开户行在杭州
我的手机号是{phone}
电话{phone}，下午打
联系方式：{phone_groups}
<think>{thought}</think>好的，马上处理。
＜think＞{thought}＜/think＞好的
<思考>{thought}</思考>结论如下
◁think▷{thought}◁/think▷可以
【思考】{thought}【/思考】可以
my password is {password}
My password is {password}, please remember it.
the password is {password}
The Wi-Fi password is {password}.
password: {password}
Password = {password}
pw: {password}
the pw for jira: {password}
passphrase for the backup disk is {password}
my passcode is {otp}
her PIN is {otp}
PIN: {otp}
PIN {otp}
the pin code for the door is {otp}
I changed my password to {password}
the admin password has been reset to {password}
password was set to {password} yesterday
{password} is my password
log in with {password} as the password
typed {password} into the password field
Enter "{password}" in the Password box
password changed from {password} to {password}
the password for the guest account on the office NAS is {password}
log in with bob/{password}
Here's the password - {password}
Forgot the password? It's {password}
the password (staging): {password}
password for the router at home is "{password}"
user: bob password: {password}
username bob, password {password}
login: bob / {password}
credentials: root/{password}
our wifi password is {word!}.
my password is {word!}
DB_PASSWORD={password}
export MYSQL_PWD={password}
"password": "{password}"
'passwd': '{password}',
spring.datasource.password={password}
<password>{password}</password>
Server=tcp:db,1433;User ID=sa;Password={password};Encrypt=true
sshpass -p {password} ssh root@10.0.0.2
mysql -u root -p{password} crm
curl -u admin:{password} http://10.0.0.8/api
docker login -u bob -p {password} registry.example.com
echo {password} | sudo -S reboot
tool --password {password} --verbose
| password | {password} |
the password is {wide}
my password is {hidden}
Your verification code is {otp}. It expires in 5 minutes.
verification code: {otp}
{otp} is your verification code
Your one-time password is {otp}
your code is {otp}
Use {otp} to verify your account
Enter code {otp} to sign in
OTP {otp}
security code for Google is {otp}
2FA code: {otp}
seed phrase: {phrase}
my recovery phrase is {phrase}
mnemonic = "{phrase}"
api_key: {token}
API_KEY="{hex}"
the api key is {token}
secret key: {token}
client_secret={token}
auth token {token}
access token is {token}
token={token}
"refresh_token": "{token}"
AWS_ACCESS_KEY_ID={aws}
{aws} / {secret}
push with {github} please
OPENAI_API_KEY={openai}
key={google}
slack bot token {slack}
The session JWT is {jwt}
Authorization: Bearer {token}
-H "Authorization: Basic {basic}"
X-Api-Key: {token}
Cookie: sessionid={token}; csrftoken={hex}
Set-Cookie: sid={token}; Path=/; HttpOnly
redis://:{password}@127.0.0.1:6379/0
mongodb+srv://app:{password}@cluster0.example.net/db
https://hooks.slack.com/services/T{number}/B{number}/{token}
https://example.com/d?file=1&sig={token}
AccountKey={token}{token}==
{pem}
card number {card}
pay with {card_groups} please
my card: {card}
id number {id_number}
call me at {phone}
phone: {phone_groups}
<think>{thought}</think>Sure, done.
<thinking>\n{thought}\n</thinking>\nDone
< Think >{thought}</ Think >ok
<reasoning effort="high">{thought}</reasoning>ok
<thought>{thought}</thought> ok
[THINK]{thought}[/THINK]ok
<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>ok
<scratchpad>{thought}</scratchpad>ok
<seed:think>{thought}</seed:think>ok
<|begin_of_thought|>{thought}<|end_of_thought|>ok
<|START_THINKING|>{thought}<|END_THINKING|>ok
<details type="reasoning" done="true">{thought}</details>ok
&lt;think&gt;{thought}&lt;/think&gt;ok
<th\u200bink>{thought}</think>ok
<thinking>{thought}</thinking>ok
Notion 的集成密钥在这：{notion}
七牛 AK {token} SK {token}
邮箱授权码 {mail_code}
IMAP 授权码是{mail_code}
BitLocker 恢复密钥 {recovery_key}
恢复密钥：{recovery_key}
服务器 10.0.0.8 root/{mixed}
远程桌面 192.168.1.5 administrator {hashed}
跳板机账号 ops 密码同上：{password}
登录信息如下，密码如下：{password}
密码从昨天起换成了{password}
密码内容 {password}
密码修改为 {password}
密碼設定為 {password}
ログインパスワードは{password}です
登录用 {password} 这个口令就能进
苹果 ID 的双重认证码 {otp}
短信里的数字是{otp}，填到验证码框
手机令牌显示 {six}
code是{six}，快点填
Wi-Fi：Home_5G / {mixed}
思考过程如下：<思考过程>{thought}</思考过程>好
【思考过程】{thought}【/思考过程】好
<|begin▁of▁think|>{thought}<|end▁of▁think|>ok
mailgun {mailgun}
mapbox {mapbox}
vault login {vault}
requirepass {password}
db.internal:5432:shop:app:{password}
smbclient //nas/share -U bob%{password}
openssl enc -k {password} -in a
unzip -P {password} a.zip
7z x a.7z -p{password}
htpasswd -b .htpasswd bob {password}
useradd bob -p {password}
wpa_passphrase Home {mixed}
$cfg['Servers'][1]['password'] = '{password}';
define("DB_PASSWORD", "{password}");
os.environ.setdefault("DB_PASSWORD", "{password}")
SET PASSWORD FOR 'app'@'%' = '{password}'
- name: SECRET_KEY\n  value: "{token}"
<add key="DbPassword" value="{password}"/>
you can log in as bob with {password}
credentials for staging: deploy:{password}
IPMI: ADMIN/{mixed}
the combo for the safe is {combo}
her password used to be {password}
password should now be {password}
the password, in case you forgot, is {password}
password reminder: {password}
the code they texted me is {otp}
the secret key for the old wallet: {hex}
password as follows: {password}
"""

BY_MODELS = r"""
<think>{thought}
好的。<thinking>{thought}
{thought}</think>好的，已经完成。
Sure. <think>{thought}
{thought}</thinking>Here it is.
<|channel|>analysis<|message|>{thought}
<analysis>{thought}</analysis>ok
◁think▷{thought}
"""

LOOK_ALIKES = r"""
密码忘了怎么办
忘记密码怎么办？
请帮我重置密码
密码是什么来着
密码是多少
密码是他自己设的，我不知道
密码已经改了，问运维要
密码要每三个月改一次
密码至少 8 位
密码长度为 12 位以上
密码错误 3 次会锁定
密码输错了{number}次
密码：见 1Password 的 prod 库
密码：******
密码：（空）
密码是必填项
密码：无
我的密码管理器是 Bitwarden
我想买个密码箱
密码学课程下周开始
密码在保险柜里
密码不要写在纸上
密码强度检测用 zxcvbn
密码框没有显示
支付密码连续输错三次会锁定
改密码的页面打不开
数据库密码放在 vault 里，变量名是 DB_PASSWORD
password 字段必填
口令红包抢到了吗
体育老师喊口令
暗号：无
验证码一直收不到
验证码有效期 300 秒
验证码有效期是 5 分钟
图形验证码太难认了
验证码功能开发完了，用的是 6 位数字
验证码服务在 2024 年上线
验证码接口超时 3000 毫秒
提取码忘了
密钥轮换策略每 90 天一次
私钥要离线保存
公钥放在 authorized_keys 里
token 数量超过 128000 就会截断
每次请求大概 2000 个 token
token 价格是每百万 3 美元
令牌桶限流每秒 100 次
cookie 过期时间改成 7 天
浏览器禁用了第三方 cookie
助记词不要截图保存
助记词一共 12 个词
身份证要带原件
身份证号共 18 位，最后一位可能是 X
课程编号 {wrong_id_number}
批次号 {wrong_id_number}
银行卡丢了要挂失
商户订单号 {wrong_card}
订单号 20261130{number}567890
订单号：13800138000123
快递单号 SF12345678901{number}
运单号 751234567890{number}
流水号2026113000001234{number}78
工单 #139123{number}
时间戳 17644896000{number}
条形码 69012345678{number}
房间号 186123{number}
QQ群 1234567{number}
产品编号 BX-2024-001 的报销单
统一社会信用代码 91110108551385082Q
会议号 123 456 7{number}
单价 {number}88 元，共 12345678 元
下午3点{number}分开会
提交 {sha} 修复了问题
任务ID {uuid} 已完成
校验和 sha256:{sha256}
版本 v{number}.4.1 已发布
ISBN 978-7-111-54742-6
股票代码 600519
车牌 京A123{number}
`<think>` 标签怎么过滤？
模型会输出 <think> 标签吗
把 <think> 和 </think> 之间的内容删掉
我觉得 thinking 模式更好
思考过程要写清楚
用户输入 <b>加粗</b> 没有效果
手机号登录比邮箱登录方便
账号被锁了，联系管理员
账号：zhangsan，部门：财务
用户名是 lihua
代码 {number}00{number} 报错
错误码 500{number}
邮编 310000
区号 0571
授权码怎么申请
激活码已经用完了
凭证已经上传到财务系统
会计凭证号 记-00{number}
扫码登录失败
二维码过期了
安全码在卡背面
登录时提示密码过期
在密码框输入后点击登录
密码输入框的宽度是 320px
密码找回流程在 docs/reset.md
密码已于 2024-05-01 过期
密码字段类型是 varchar(64)
用户 1234 反馈登录失败
验证码图片尺寸 120x40
验证码成本 0.045 元
密钥长度 2048 位
How do I reset my password?
please reset my password
The password field is required
password must contain at least 8 characters
The password is wrong
the password is expired
password is stored in Vault
password is required
my password is not working
my password is still the old one
Use a password manager such as 1Password
Password reset link sent
password: str
password: string;
password: Optional[str] = None
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
password=${DB_PASSWORD}
password: "{{ vault_db_password }}"
password = user_password
passwd: x
"password": {"type": "string", "minLength": 8}
def check_password(user, password): return verify(password, user.hash)
if (password.length < 8) throw new Error("too short")
SELECT * FROM users WHERE password_hash IS NULL
password_reset_url=/reset
I forgot the password for the old laptop
he passed the PIN pad test
my train pass is 20,000 yen
**Password**\n* **Shipping Address**
typed the wrong text into the password field
enter 12345 in the amount field
password rules: 8-64 characters
tests pass: 128
session: {uuid}
public key: see README
pin 12 of the connector is loose
pass 3 of 5 finished
the pw field is hidden
The secret to good bread is time
secret santa is on Friday
The key is to stay calm
API keys should be rotated quarterly
api_key: <YOUR_API_KEY>
api_key = config.api_key
OPENAI_API_KEY=sk-...
const token = process.env.GITHUB_TOKEN;
token: str | None = None
tokens = tokenizer.encode(text)
token count was 1532 for this prompt
max_tokens=4096
next_page_token=abc
self.secret_key = None
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization is handled by OPA
Bearer of bad news
Cookie: (none)
accept cookies to continue
my favourite keyboard is the HHKB
The verification code never arrived
verification code expired after 300 seconds
your code is great
the error code is 5001
status code 404{number}
your zip code is 94105
the recovery phrase should be written down on paper and stored in a safe place never online
The private key stays on the HSM
-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----
postgres://localhost:5432/app
postgres://app@db.internal/prod
https://user@example.com/path
redis://127.0.0.1:6379/0
https://example.com/search?q=password&page=2
http://127.0.0.1:8080/callback?code=ok
http://127.0.0.1:80/a@b
commit {sha}
HEAD is now at 1a2b3c4 fix typo
uuid {uuid}
request_id={uuid}
session id {uuid}
sha256:{sha256}
trace-id: {hex}
pip install foo --hash=sha256:{sha256}
order no {wrong_card}
order id 159001122{number}
invoice 2026-11-{number}-000123
tracking 1Z999AA101234567{number}
IMEI 3512340987654{number}
timestamp=1764489600
2026-11-30T12:00:00Z
version 1.2.{number}
price is $1,299.00
ISBN 978-0-306-40615-7
x = a[13800138000 % 7]
ticket BX-2024-001
std::vector<think> v;
print('<think>'.upper())
use the `<thinking>` tag
the <think> and </think> tags
I think this is reasoning enough
a < b and c > d
<b>bold</b> text
```\n<think>example</think>\n```
the user login: see the wiki
credentials are in the vault
import secrets; secrets.token_hex(16)
ssh-keygen -t ed25519 made a new key
数据库在 10.0.0.8，目录 root/data{number}
登录 admin/console{number} 页面
server path /root/app{number}/bin
the host serves admin/index{number}.html
the combo for the meal is {number}99 yen
午餐 combo {number} 元
unzip a.zip -d /tmp/out{number}
unzip -p a.zip file{number}.txt
7z x backup2024.7z -otmp
openssl x509 -in cert{number}.pem
requirepass 需要设置
短信里的内容是 10086 发来的流量提醒
短信数字验证功能要做
令牌桶限流 {number}00 qps
手机令牌过期了
AK {number} 是型号
sk {number}88 航班
name: APP_ENV\n  value: production{number}
name: TOKEN_BUCKET_SIZE\n  value: {number}
name: password-policy\nvalue: strict
password below 8 characters is rejected
密码如下规则：至少 8 位
password reminder: sent to your email
password update: done
login with google
sign in with apple 2024
log in as admin and check
credentials for staging: see vault
账号：zhangsan / 部门：财务
服务器 root / 分区已满 {number}%
host: db1/replica{number}
登录/注册{number}个按钮
授权码有效期三天
邮箱授权码怎么获取
key-{number} 已归档
password used to be required
密码以前是必填的
思考过程要写出来
【思考过程】请写出步骤
推理过程如下：先看 1 再看 2
数字是{number}1182，订单金额
手机上显示的数字是 5210，不是验证问题
ntn_config 文件
docker run -p 8080:80 nginx
ssh -p 2222 root@host1
数据库 postgres/16.2
主机 ubuntu/22.04 镜像
server: ubuntu/22.04
login: 2024-11-30 12:00:01
Enter 2024 to continue reading
Use 4096 to complete the buffer size setting
两步验证是 2024 年加的
| user | password |\n|---|---|\n| 必填 | 必填 |
wifi password strength: {number}%
psk=wpa2
PIN 码错误 3 次
密码输入错误{number}次锁定账户
新密码：不能与旧密码相同
token：见飞书文档
验证码：请输入6位数字
code是 review 过的
code是404
<p>Hello <b>user</b></p>
<div class="end">text</div>
"""
