"""What secrets of well-known makers look like, wherever they stand (`redact.py` hides them).

Each shape begins with letters of its maker's choice, so that a long text is looked through once.
"""

from __future__ import annotations

import re
from typing import Final

_SHAPES: Final = (
    # clouds
    r"(?:AKIA|ASIA|AROA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])",
    r"AIza[0-9A-Za-z_-]{35}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"GOCSPX-[0-9A-Za-z_-]{20,}",
    r"do[por]_v1_[a-f0-9]{64}",
    r"EAAC[A-Za-z0-9]{30,}",
    r"dapi[a-f0-9]{32}",
    # code and packages
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|rt|dt|ptt|cbt|soat|agent|ft|imt)-[A-Za-z0-9_-]{16,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"rubygems_[a-f0-9]{48}",
    r"ATATT3[A-Za-z0-9_=-]{40,}",
    r"AT(?:CTT3|BB)[A-Za-z0-9_=-]{24,}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}",
    r"sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{20,}",
    # chat and mail
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[A-Za-z0-9-]{10,}",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    r"key-[0-9a-f]{32}(?![0-9a-f])",
    # money
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{20,}",
    r"shp(?:at|ca|pa|ss|rt)_[a-fA-F0-9]{32}",
    r"sq0(?:atp|csp)-[0-9A-Za-z_-]{22,}",
    # models
    r"sk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{16,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"gsk_[A-Za-z0-9]{40,}",
    r"r8_[A-Za-z0-9]{37}",
    # infrastructure
    r"hv[bsr]\.[A-Za-z0-9_-]{20,}",
    r"SWM(?:TKN|KEY)-1-[A-Za-z0-9+/-]{20,}",
    r"gls?[ac]_[A-Za-z0-9+/=_]{30,}",
    r"NRAK-[A-Z0-9]{20,}",
    r"tskey-[a-z]{1,20}-[A-Za-z0-9-]{16,}",
    r"pul-[a-f0-9]{40}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}",
    r"lin_api_[A-Za-z0-9]{32,}",
    r"ntn_[A-Za-z0-9]{40,}",
    r"figd_[A-Za-z0-9_-]{30,}",
    r"sbp_[a-f0-9]{40}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    r"K10[a-f0-9]{60,}::[A-Za-z0-9:._-]{16,}",
)

TOKEN: Final = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_SHAPES)})")

HASH: Final = re.compile(
    r"(?<![A-Za-z0-9])\$(?:1|5|6|7|y|gy|2[abxy]|argon2(?:id|i|d)|scrypt|pbkdf2-sha\d{1,3})"
    r"\$[^\s:\"',;]{12,}"
)
"""A hashed password, as the shadow file keeps it."""

HOOK: Final = re.compile(
    r"(//hooks\.slack\.com/(?:services|workflows)/|//discord(?:app)?\.com/api/webhooks/"
    r"|//api\.telegram\.org/bot)[^\s\"'<>]+"
)
"""An address that is a secret itself."""
