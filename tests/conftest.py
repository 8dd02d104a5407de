"""What every test starts from."""

from __future__ import annotations

import signal

# Who starts the tests in the background of a shell has Ctrl-C ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
