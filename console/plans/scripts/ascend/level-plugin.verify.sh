[ -x "$py" ] || { echo 'There is no environment yet'; exit 1; }
with_cann "$py" -c "$look_plugin"
