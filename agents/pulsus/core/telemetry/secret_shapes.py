"""What secrets of well-known makers look like, wherever they stand (`redaction.py` hides them).

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
    r"LTAI[A-Za-z0-9]{16,}",
    r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    r"t1\.[A-Za-z0-9_-]{60,}\.[A-Za-z0-9_-]{60,}",
    r"1//0[A-Za-z0-9_-]{40,}",
    r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}",
    r"HRKU-[A-Za-z0-9_-]{36,}",
    r"fm[12]r?_[A-Za-z0-9+/=_,-]{40,}",
    r"(?:nfp|napi)_[A-Za-z0-9]{30,}",
    r"rnd_[A-Za-z0-9]{28,}",
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
    # code and packages
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|rt|dt|ptt|cbt|soat|agent|ft|imt|oas)-[A-Za-z0-9_-]{16,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"rubygems_[a-f0-9]{48}",
    r"ATATT3[A-Za-z0-9_=-]{40,}",
    r"AT(?:CTT3|BB)[A-Za-z0-9_=-]{24,}",
    r"dckr_[op]at_[A-Za-z0-9_-]{20,}",
    r"ATTA[a-f0-9]{60,}",
    r"oy2[a-z0-9]{43}(?![a-z0-9])",
    r"ops_eyJ[A-Za-z0-9_-]{40,}",
    r"sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{20,}",
    # chat and mail
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[A-Za-z0-9-]{10,}",
    r"\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    r"SK[a-f0-9]{32}(?![a-f0-9])",
    r"[a-f0-9]{32}-us\d{1,2}(?!\d)",
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
    r"pplx-[A-Za-z0-9]{40,}",
    r"xai-[A-Za-z0-9]{60,}",
    r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}(?![A-Za-z0-9])",
    # infrastructure
    r"hv[bsr]\.[A-Za-z0-9_-]{20,}",
    r"SWM(?:TKN|KEY)-1-[A-Za-z0-9+/-]{20,}",
    r"gls?[ac]_[A-Za-z0-9+/=_]{30,}",
    r"NR(?:AK|II|RA)-[A-Za-z0-9_-]{20,}",
    r"hca[ik]k_[A-Za-z0-9]{40,}",
    r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}(?![A-Za-z0-9])",
    r"sb_secret_[A-Za-z0-9_-]{20,}",
    r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?![A-Za-z0-9])",
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
    r"SCRAM-SHA-(?:1|256)\$\d{1,7}:[A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{20,}:[A-Za-z0-9+/=]{20,}",
    r"[a-f0-9]{32}:[a-f0-9]{32}(?=:::)",
    r"\*[0-9A-F]{40}(?![0-9A-Za-z])",
    r"md5[a-f0-9]{32}(?![0-9A-Za-z])",
    r"[a-f0-9]{36}NRAL(?![0-9A-Za-z])",
    r"secret_[A-Za-z0-9]{43}(?![0-9A-Za-z])",
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
    r"(?<![A-Za-z0-9])\$(?:1|5|6|7|y|gy|2[abxy]|apr1|argon2(?:id|i|d)|scrypt|pbkdf2-sha\d{1,3})"
    r"\$[^\s:\"',;]{12,}"
)
"""A hashed password, as the shadow file keeps it."""

HOOK: Final = re.compile(
    r"(//hooks\.slack\.com/(?:services|workflows)/|//discord(?:app)?\.com/api/webhooks/"
    r"|//api\.telegram\.org/bot|//[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/)[^\s\"'<>]+"
)
"""An address that is a secret itself."""

_GIVEN: Final = {
    r"mysql\w{0,12}|mariadb[\w-]{0,12}": r"-p(?=\S)",
    r"sshpass": r"-p[ \t]{0,8}",
    r"(?:redis|valkey|keydb)-cli|iredis": r"-a[ \t]{1,8}",
    r"mongo(?:sh|dump|restore|export|import|stat|top|files)?": r"-p[ \t]{1,8}",
    r"(?:docker|podman|nerdctl|helm|skopeo|buildah|oras|crane|az|oc)\b[^\r\n|;&]{0,99}?\blogin": (
        r"-p[ \t]{1,8}"
    ),
    r"ldap(?:search|add|modify|delete|whoami|compare|passwd)": r"-w[ \t]{1,8}",
    r"sqlcmd|bcp|ipmitool|ipmi-sensors": r"-P[ \t]{1,8}",
    r"rabbitmqadmin|cqlsh": r"-p[ \t]{1,8}",
    r"smbclient|rpcclient|smbget": r"(?:-U|--user)[ =]?[^\s%]{1,99}%",
    r"snmp(?:get|walk|bulk|table|set|status|trap)\w{0,9}": r"-[cAX][ \t]{1,8}",
}
"""Programs, and the option of theirs that is followed by a password."""

GIVEN: Final = re.compile(
    "|".join(rf"\b(?:{name})\b[^\r\n|;&]{{0,160}}?[ \t]{flag}" for name, flag in _GIVEN.items())
)
