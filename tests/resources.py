"""A small fleet for tests of the gates: one node, guests on it, and a container in a guest."""

from __future__ import annotations

from pulsus.gates.resources.resolved_resource import ResolvedResource

DELLY = ResolvedResource(
    "node", "delly", "delly", target_host="delly", allowed_actions=("exec", "write")
)
HOMEPAGE = ResolvedResource(
    "lxc",
    "141",
    "homepage-docker",
    host="delly",
    aliases=("homepage",),
    parent=DELLY.id,
    target_host="homepage-docker",
    allowed_actions=("exec", "write", "restart"),
)
MEDIA = ResolvedResource(
    "lxc", "105", "media-server", host="delly", parent=DELLY.id, target_host="media-server"
)
JELLYFIN = ResolvedResource(
    "docker_container",
    "abc123",
    "jellyfin",
    host="media-server",
    parent=MEDIA.id,
    target_host="media-server",
    allowed_actions=("restart",),
)
NGINX = ResolvedResource(
    "service", "nginx", "nginx", host="delly", parent=DELLY.id, target_host="delly"
)
MINIPC = ResolvedResource("node", "minipc", "minipc", target_host="minipc")
