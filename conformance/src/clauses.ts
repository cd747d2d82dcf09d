/** The clauses of the storage contract, in the words a failure quotes. */
export const clauses = {
  "open.shape": "A storage has every method of the contract, and capabilities that say what it can do.",
  "open.keeps": "What was acknowledged is there for the next storage on the same place.",
  "open.apart": "Two places share nothing.",
  "open.closed": "After its disposal a storage refuses every call with `closed`; disposing twice is harmless.",
  "open.released": "After its disposal a storage holds nothing open: no file, no timer, no connection of its own.",
  "ids.checked":
    "Ids are checked before they come near a path, a key or a URL; a wrong one is `invalid` in every method.",
  "ids.distinct":
    "Every legal id is a session of its own, also ids that differ in case only or are names to the file system.",
  "signal.before": "A signal that fired before anything was sent means `aborted`, and nothing is done.",
  unsupported: "What a storage cannot do it refuses with `unsupported`; it never ignores it.",
  "append.create": "`expect: 0` creates the session, whole; of one that exists it is `conflict`.",
  "append.whole": "All lines stand directly after `expect`, or none do.",
  "append.exact": "Lines come back byte for byte.",
  "append.lines": "Lines are texts without LF that UTF-8 can hold; an empty line or batch is `invalid`.",
  "append.expect":
    "A `next` or `log` other than the stored one is `conflict`, also beyond the end or on a session that is not there.",
  "append.refused": "Every code but `indeterminate` means: nothing of it is, or will be, in the log.",
  "append.acknowledged": "An append is acknowledged when it is committed, not before.",
  "append.info": "`info` is up to 8 KB of text kept with the head, and its `next` says which head it belongs to.",
  "append.signal":
    "After its write was sent a signal only ends the waiting: `aborted` with `sent: true`, and the write settles.",
  "append.lost":
    "A write whose fate is unknown is settled by looking for its own lines, or `indeterminate`; never `conflict`, never twice.",
  "append.quota": "A storage without room says `quota`, writes nothing, and works again as soon as there is room.",
  "append.busy":
    "A store that asks to try again later delays an append, or makes it `unavailable`; it is there once or not at all.",
  "read.order":
    "Reads give each line of the range once, in log order (also for `last`), without gaps; `to` and `before` are exclusive.",
  "read.committed": "A read gives at least all that was committed before the call.",
  "read.chunks": "Chunks are contiguous, never empty, and at most 256 KB unless a single line is longer.",
  "read.missing": "A missing session yields nothing.",
  "read.gone": "A log that is deleted or replaced under its reader is `conflict`.",
  "read.corrupt": "Bytes that are not UTF-8 are `corrupt` where they are read, and are not written anew.",
  "head.exact": "`head` says the next seq, the log's identity and its bytes; nothing where there is no session.",
  "head.time": "`updatedAt` is the time of the last append by the storage's clock, and never decreases.",
  "list.all": "`list` gives every session once, as `head` would.",
  "list.order": "`list` keeps the order that the capabilities say; only one ordered by id goes on `after` an id.",
  "list.limit": "`limit` is the most that `list` gives.",
  "delete.gone": "One step makes it gone for everyone, with its documents; what it removed is counted; idempotent.",
  "delete.stays": "An append with an old head after a delete is `conflict`; nothing brings a deleted log back.",
  "delete.only": "A delete takes that session alone; blobs are left to collection.",
  "tails.torn":
    "What stands behind the last whole line is no part of the log, and never joins a line that is appended later.",
  "recover.crash": "A crash leaves what was acknowledged, and of the rest whole lines only.",
  "cross.same":
    "Adapters that share a layout share its sessions: what one wrote the other reads, goes on with and deletes, under the same heads.",
  "limits.lines":
    "Lines and batches over the limits of the capabilities are `invalid`, counted in UTF-8 bytes; up to them they are taken.",
  "watch.sees": "`watch` tells that a log grew; it may coalesce, and never lies.",
  "watch.ends": "`watch` ends, without an error, with its signal, with the session and with the storage.",
  sync: "`sync` resolves when what was acknowledged is on stable storage.",
  "replace.swap": "`replace` swaps the whole log in one step, whatever its size, or leaves it as it was.",
  "replace.conflict":
    "After a replace, readers and writers of the old log get `conflict`; a replace with an old head does too.",
  "docs.cas": "Documents change only against the version they have; any other is `conflict`.",
  "docs.version": "A version is the content's own: equal texts have equal versions, different ones do not.",
  "docs.keys":
    "Keys are `<name>` or `sessions/<id>/<name>`; others are `invalid`; `list` gives those with a prefix, ascending.",
  "docs.exact": "A document comes back as it was put.",
  "blobs.named": "A blob is named by the SHA-256 of its bytes, and they come back exactly.",
  "blobs.young":
    "A put of a blob that exists makes it young again, so that a collector that looked before does not take it.",
  "blobs.delete": "`delete` says whether it removed one; with `ifPutBefore` only one whose last put is older.",
  "blobs.list": "`list` gives every blob once, with its size and the time of its last put.",
} as const

export type ClauseId = keyof typeof clauses
