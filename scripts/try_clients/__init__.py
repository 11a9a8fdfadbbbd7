"""Runs real clients against a scripted upstream through both entrances, and checks what leaves and what comes back.

    .venv/bin/python -m scripts.try_clients [--only NAME] [--cache DIR] [--write]

Installs the clients into the cache folder, from the package indexes that pip and npm are set up with. Needs Node.js for
those of npm. `--write` puts the table into docs/clients.md. Everything but the installation stays on loopback.
"""
