"""Runs other programs on Linux: watched for connections past the gateway, or contained so that there are none.

Nothing here knows what a request is. `gateway.cli.supervised_exec` chooses what a program is run with.
"""

# Statuses of programs that cannot be run, or do not exist, as shells use them.
NOT_EXECUTABLE, NOT_FOUND = 126, 127
