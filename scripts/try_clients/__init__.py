"""Runs real clients against a scripted upstream through both entrances, and checks what leaves and what comes back.

    .venv/bin/python -m scripts.try_clients [--only NAME] [--cache DIR] [--install] [--write]

Installs the clients into the cache folder, from the package indexes that pip and npm are set up with. Needs Node.js for
those of npm. `--write` puts the table into docs/clients.md.

The prompts go to loopback alone, but agents also call hosts of their vendors. On Linux, install first and then run
without a network:

    .venv/bin/python -m scripts.try_clients --install
    unshare --map-root-user --net sh -c 'ip link set lo up && .venv/bin/python -m scripts.try_clients'
"""
