"""`python -m kipql` is the command line."""

import sys

from kipql.cli.main import main

sys.exit(main())
