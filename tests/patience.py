"""How many times as long things may take: under a sanitizer, many times."""

from __future__ import annotations

import os

SANITIZED = any(library in os.environ.get("LD_PRELOAD", "") for library in ("asan", "tsan"))
PATIENCE = 10 if SANITIZED else 1
