id -u HwHiAiUser >/dev/null 2>&1 || { echo 'There is no user HwHiAiUser'; exit 1; }
[ "$login" = root ] || grep '^HwHiAiUser:' /etc/group | cut -d : -f 4 | tr ',' '\n' | grep -qx "$login" ||
    { echo "$login is not in the group HwHiAiUser"; exit 1; }
