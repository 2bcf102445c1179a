"""How to change a host: one file per thing installed, each giving a list of Steps."""
