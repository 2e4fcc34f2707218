"""How rules are worded in English: what is to be done for good, and what never.

Patterns work on text in lower case with straight apostrophes.
"""

from pipeline.observers.offline.verbs import ORDERED, START, VERB
from pipeline.rules.phrasing import Table

_DAYS_EN = (
    r"(?:day|week|month|quarter|morning|evening|night|friday|monday|tuesday|wednesday|thursday"
    r"|saturday|sunday|weekday)"
)
_PEOPLE = (
    r"(?:kids?|child|children|persons?|people|m[ae]n|wom[ae]n|parents?|players?|fans?|moments?"
    r"|games?|days?|time|life|things?|good|one of)"
)
_NOUNS = r"(?:[a-z0-9][\w/&'-]{0,24} ){0,5}[a-z0-9][\w/&'-]{0,24}"
_NOBODY = (
    r"(?!(?:i|i'm|i'll|we|he|she|they|their|his|her|you|it|that|this|there|who|what|life|things?"
    r"|people|kids|some|many|most|god|everything|winning)\b)"
)
_STATED = (
    r"(?:be (?:\w{1,24}(?:ed|en|wn|nt|pt|ade|ut|id|one)|in|at|under|between|on|no|set|read)|go|goes"
    r"|stay|use|include|contain|start|end|have (?:no|at|two|three|\d)|follow|match|carry|show|list"
    r"|come with|not|never|always|only)"
)

ENGLISH = Table(
    # Always and never.
    (
        "always never",
        (
            rf"{ORDERED}(?:always|never)(?: ever)? (?!give up|make (?:us|me)\b|keep (?:going|me)|let (?:me"
            rf"|us) down){VERB}\b"
        ),
    ),
    ("always ever", rf"{ORDERED}{VERB}\b[^.\n]{{0,120}}?(?:\balways\b|, ever\b)"),
    ("ever", rf"\b(?:don'?t|do not) ever {VERB}\b"),
    (
        "always never",
        (
            rf"(?:^|[.,;:!] ?|\b(?:and|but|that|btw) ){_NOBODY}{_NOUNS} (?:(?:should|shoud|must|may"
            r"|can) )?(?:always|never) (?:(?:goes?|go) (?:to|in|into|under|through|via|out)\b|include"
            rf"|contain|exceed|start|end|need|require|use|(?:be|get|gets|are|is) \w{{2,20}}(?:ed|en|wn|nt|pt"
            r"|ade)\b)"
        ),
    ),
    # From now on.
    (
        "now today here",
        (
            r"\bfrom (?:now|today|here|this point) on(?:wards?)?\b(?!,? (?:i|we|he|she|they"
            r"|it)(?:'(?!d like)\w{1,24}| (?!want|need|expect|prefer|would like)\w{1,24}))"
        ),
    ),
    (
        "henceforth going future",
        (
            r"\b(?:henceforth|going forward|in (?:the )?future),? (?:please |always |never |don'?t "
            rf"|do not |only ){{0,4}}(?:{VERB}\b|{_NOUNS} (?:must|should|has to|have to|needs? to|goes?|is"
            r"|are)\b)"
            rf"|{ORDERED}{VERB}\b[^.\n]{{2,100}} (?:going forward|in (?:the )?future)\b"
        ),
    ),
    (
        "all every each any",
        (
            rf"{ORDERED}(?:cc|bcc|copy|sign|tag|label|prefix|name|address|encrypt|include|mention|use|keep"
            rf"|format|avoid|treat|reject|decline|approve|flag|escalate|forward)\b[^.\n]{{2,80}}?\b(?:all"
            r"|every|each|any) (?!other\b|of (?:it|this|that|them)\b|the (?:best|time|way|info)|about|good"
            r"|you|this|these|those)\w"
        ),
    ),
    (
        "least most maximum max more",
        (
            rf"{ORDERED}(?:keep|use|leave|allow|store|retain|limit|wait)\b[^.\n]{{0,40}}?\b(?:at least"
            r"|at most|no more than|a maximum of|max) "
        ),
    ),
    ("sure ensure", rf"{ORDERED}?\b(?:make sure|ensure) (?:that )?(?:all|every|each|any|no)\b"),
    (
        "important essential critical crucial",
        r"\b(?:important|essential|critical|crucial) (?:that you|to) (?:always|never|not)\b",
    ),
    (
        "want need expect like",
        (
            rf"\bi (?:don'?t|do not|never) want you to {VERB}\b|\bi(?:'d like| want| need"
            r"| expect) you to (?:always|never|ask (?:me )?(?:first|before)|check with me)\b"
        ),
    ),
    ("rule policy", r"\b(?:my|our|the) (?:rule|policy|principle) (?:is|here is)\b"),
    # Each time, each day, each of them.
    (
        "whenever every each anytime time soon",
        (
            rf"{ORDERED}(?:{VERB}\b[^.\n]{{0,120}}?)?\b(?:every time|each time|whenever|any ?time"
            r"|as soon as)\b (?!i (?:see|hear|think|get|try|go)\b|you (?:need|want|like|feel|have|'re"
            r"|are)\b)"
            r"|\b(?:whenever|every time|each time|any ?time|as soon as)\b (?!i (?:see|hear|think|get|try"
            rf"|go)\b|you (?:need|want|like|feel|have|'re|are)\b)[^.\n]{{2,80}}?[, ](?:please |always "
            rf"|just |first ){{0,4}}{VERB}\b"
        ),
    ),
    (
        (
            "every each daily weekly monthly mondays tuesdays wednesdays thursdays fridays saturdays "
            "sundays weekdays"
        ),
        (
            rf"{ORDERED}{VERB}\b[^.\n]{{2,100}}?\b(?:(?:every|each) (?:\w{{1,24}} )?{_DAYS_EN}|daily|weekly"
            r"|monthly|on (?:mon|tues|wednes|thurs|fri|satur|sun|week)days)\b"
            rf"|^(?:every|each) {_DAYS_EN},? (?:at [\w:]{{1,8}}(?: ?[ap]m)?,? )?(?:please )?{VERB}\b"
        ),
    ),
    (
        "all every each any no only nobody everybody everyone nothing anything anyone",
        (
            r"(?:^|[.,;:!] ?|\b(?:and|but|that|repo|on \w{1,24}) )(?:all|every|each|any|no|only|nobody|no one"
            r"|no-one|everybody|everyone|nothing|anything"
            rf"|anyone)\b(?! {_PEOPLE}\b)(?: of)?(?: [\w/&'.-]{{1,24}}){{0,6}}? "
            r"(?:must|shall|should|has to|have to|needs? (?:to|my|an?|explicit|prior|written)|requires?"
            r"|may(?! be\b)|can only|can't|cannot|goes? (?:to|in|into|through|under|via|out)"
            r"|belongs? (?:in|to|on)|push(?:es)?|deploys?|merges?|commits?|touch(?:es)?)\b(?! (?:be (?:so"
            r"|very|really|quite)|help but|wait|believe|stop))"
        ),
    ),
    # Forbidding, and leave to be asked for.
    (
        "don't dont do never",
        (
            rf"{ORDERED}(?:don'?t|do not|never) (?:ever |automatically |directly "
            rf"|just )?{VERB}\b[^.\n]{{0,80}}?"
            r"\b(?:without|unless|before(?! (?:i forget|noon today))|until i|after (?:\d|work|hours|dinner"
            r"|midnight|lunch)|outside|during|on (?:week|satur|sun|mon|tues|wednes|thurs|fri)\w{0,24}|at night"
            r"|while i|when i|anymore|any more|any longer|again)\b"
            rf"|{ORDERED}(?:don'?t|do not|never) (?:ever |automatically |auto-?){VERB}\b"
        ),
    ),
    (
        "circumstances times exceptions",
        r"\b(?:under no|not under any) circumstances\b|\bat all times\b|\bno exceptions\b",
    ),
    (
        "allowed permitted forbidden prohibited limits supposed",
        (
            r"(?:\byou(?:'re| are)|\b(?:is|are|it's|its))(?: absolutely| strictly)? (?:not (?:allowed"
            r"|permitted|supposed)|forbidden|prohibited|off[- ]limits)\b"
        ),
    ),
    (
        "without",
        (
            r"\bwithout (?:(?:first )?(?:asking|checking|telling|consulting)(?: with)?(?: me\b| first\b)?"
            r"|my (?:explicit |prior |written )?(?:ok|okay|approval|consent|permission|confirmation|say-so"
            r"|go-ahead|sign-?off)|(?:explicit|prior|written) (?:approval|consent|permission"
            r"|confirmation))"
        ),
    ),
    (
        "ask check confirm show run clear",
        (
            rf"{ORDERED}(?:always )?(?:check with|ask|run (?:it|that|everything|them) (?:by|past)"
            r"|clear (?:it|that|everything) with|confirm with|show(?: it to)?) me (?:first\b|before\b)"
            rf"|{ORDERED}ask (?:first|before)\b"
        ),
    ),
    (
        "no",
        (
            rf"{START}(?:absolutely |strictly )?no (?!one|way|problem|worries|idea|need|rush|doubt|luck"
            rf"|matter|wonder|thanks|offen[cs]e|plans|news|reply|answer)[\w -]{{2,40}}? (?:before|after"
            r"|without|on|in|over|unless|during|at|between|to)\b"
        ),
    ),
    # What must be so.
    (
        "must mustn't shall have has need needs should",
        (
            rf"{START}{_NOBODY}{_NOUNS} (?:have to|has to|need to|needs to|should|must) (?:pass|match|come"
            rf"|go|stay|have|be|{VERB})\b[^.\n]{{0,60}}\b(?:before|after|unless|until|without) \w"
            rf"|(?:^|[.,;:!] ?|\b(?:and|but|that|on) ){_NOBODY}{_NOUNS} (?:must"
            rf"|shall)(?: (?:{_STATED})\b(?! (?:so|very|really|quite|such|have|be|having|amazing)\b)"
            r"|n't)(?! been| felt| had)"
        ),
    ),
    (
        "only",
        (
            rf"(?:{ORDERED}|, |\b(?:reports?|mails?|texts?|documents?) )only {VERB}\b(?! (?:me"
            r"|us)\b)(?= \w)"
        ),
    ),
    ("default", rf"\bby default\b|\bas (?:the|my|your) default\b|{ORDERED}default to\b"),
    (
        "in for on with",
        (
            rf"{START}(?:in|for|on|with) (?!now\b|the meantime|this|that|today|tomorrow|a\b"
            rf"|me\b)[\w' ]{{3,40}}?,? (?:always |please |only )?(?:use|write|sign|cc|address|keep"
            r"|avoid)\b (?!it\b|to\b|up\b|you\b)"
        ),
    ),
    # When this, do that.
    (
        "if when once before after for in",
        (
            rf"{START}(?:if|when|once|before|after|for|in)\b (?!you (?:need|want|have|ever|like|feel|get"
            r"|can|could|would|know|think|come|arrive|are (?!not sure|unsure|in doubt))\b|i (?:was|were"
            r"|had|first|see|think|look|hear)\b|there'?s (?:anything|something)|a while)"
            r"(?!(?:in |for |after |before |once )?(?:an?|one|two|three|the next|\d{1,9}|half an) (?:minutes?"
            rf"|hours?|days?|weeks?|months?)|[^,.]{{0,12}}\b(?:tomorrow|tonight|(?:mon|tues|wednes|thurs"
            r"|fri|satur|sun)day)\b)"
            rf"[^.\n,]{{3,90}}(?:, |; |,? then |,? please |,? you | (?=always |never |don'?t "
            r"|do not ))(?:then |please |you )?(?:(?:must|should|need to) )?(?:(?:always|never|just|also"
            r"|only|first|don'?t|do not|automatically) ){0,4}"
            r"(?!contact me|feel free|reach out|keep in mind|note\b|check (?:it |this |them )?out"
            rf"|tell me (?:about|how|what)|call it|do (?:it|that|so)\b)(?:{VERB}|let me know)\b"
        ),
    ),
)
ENGLISH_OF_THINGS = Table(
    ("don't dont do never only", rf"{ORDERED}(?:don'?t|do not|never|only) {VERB}\b"),
    (
        "go goes",
        (
            r"\b(?:goes?|go) (?:to|in|into|under|through|via)\b(?! (?:work|school|bed|sleep|the (?:gym"
            r"|movies|beach)))"
        ),
    ),
    (
        "saved kept filed stored sent named written due",
        (
            r"\b(?:is|are) (?:saved|kept|filed|stored|sent|named|written|due) (?:to|in|into|under|as|at|by"
            r"|on)\b"
        ),
    ),
    (
        "should needs need has have",
        (
            rf"{START}{_NOBODY}{_NOUNS} (?:should|needs? to|ha(?:s|ve) to) (?:be|go|have|always|never|only"
            r"|include|start|use)\b"
        ),
    ),
)
