"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "csidrivers csinodes csistoragecapacities storageclasses volumeattachments volumeattributesclasses",
    [
        ("groups_storage", "storageclass-defaults"),
        ("groups_storage", "storageclass-rich"),
        ("groups_storage", "storageclass-invalid"),
        ("groups_storage", "storageclass-update"),
        ("groups_storage", "volumeattributesclass-basic", 0),
        ("groups_storage", "volumeattachment-basic"),
        ("groups_storage", "volumeattachment-invalid"),
        ("groups_storage", "csidriver-defaults"),
        ("groups_storage", "csidriver-rich"),
        ("groups_storage", "csidriver-invalid"),
        ("groups_storage", "csidriver-update"),
        ("groups_storage", "csinode-basic"),
        ("groups_storage", "csinode-invalid"),
        ("groups_storage", "csistoragecapacity-basic"),
        ("groups_storage", "csistoragecapacity-invalid"),
        ("groups_storage", "storage-empty-and-null"),
    ],
)
