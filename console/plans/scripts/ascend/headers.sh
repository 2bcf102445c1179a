kernel=$(uname -r)
fail "The headers of the running kernel are missing: /lib/modules/$kernel/build is not there, so the driver cannot be \
built. Install them (linux-headers-$kernel on Ubuntu, kernel-devel-$kernel on openEuler). If the distribution offers \
headers of a newer kernel only, restart this host into that kernel first: an automatic upgrade may have replaced it."
