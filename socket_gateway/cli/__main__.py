"""`python -m socket_gateway.cli`: the command line without its installed name."""

import sys

from socket_gateway.cli import main

sys.exit(main())
