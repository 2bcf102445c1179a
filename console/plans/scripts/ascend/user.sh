getent group HwHiAiUser >/dev/null 2>&1 || grep -q '^HwHiAiUser:' /etc/group || root groupadd HwHiAiUser
id -u HwHiAiUser >/dev/null 2>&1 || root useradd -g HwHiAiUser -d /home/HwHiAiUser -m -s /bin/bash HwHiAiUser
if [ "$login" != root ]; then
    id -nG "$login" | tr ' ' '\n' | grep -qx HwHiAiUser || root usermod -aG HwHiAiUser "$login"
    echo "$login is in the group HwHiAiUser; that holds from the next login on."
fi
id HwHiAiUser
