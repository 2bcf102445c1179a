cards_free "removing the driver"
