"""Write the question about a torch file that is not the CPU build, for the console to show."""

import json
import sys

offer, sentence, cpu_index = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
size = f"{offer['bytes'] / 1e6:.0f} MB" if offer["bytes"] else "? MB"
values = {"file": offer["file"], "size": size, "place": offer["from"], "cpu_index": cpu_index}
print(json.dumps({"sentence": sentence, "values": values}, ensure_ascii=False))
