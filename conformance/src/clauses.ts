/** The first sentence of each clause of the storage contract, as `docs/contract.md` states it and a failure message quotes it. */
export const clauses = {
  "open.shape": "A storage has every method of the contract, and capabilities that say what it supports.",
  "open.keeps": "Whatever was acknowledged is present for the next storage on the same location.",
  "open.apart": "Two locations share nothing.",
  "open.closed": "After its disposal a storage refuses every call with `closed`; a second disposal has no effect.",
  "open.released": "After its disposal a storage keeps nothing open: no file, no timer, no connection of its own.",
  "ids.checked":
    "Ids are checked before they are used in a path, a key or a URL; an invalid one is `invalid` in every method.",
  "ids.distinct":
    "Every valid id is a different session, also if ids differ only in case or are reserved by the file system.",
  "signal.before": "If its signal is aborted before anything was sent, a call is `aborted` and has no effect.",
  unsupported: "A storage refuses what it does not support with `unsupported`; it never ignores it.",
  "append.create": "`expect: 0` creates the session, whole; if the session exists, it is `conflict`.",
  "append.whole": "All lines are written directly after `expect`, or none are.",
  "append.exact": "Lines come back byte for byte.",
  "append.lines": "A line is a string without LF that UTF-8 can encode; an empty line or an empty batch is `invalid`.",
  "append.expect":
    "A `next` or `log` other than the stored one is `conflict`, also beyond the end and for a missing session.",
  "append.mark": "A head with the mark of another line than the log's last one is `conflict`.",
  "append.refused":
    "Every error code except `indeterminate` means that no line of the batch is, or will be, in the log.",
  "append.acknowledged": "An append is acknowledged when it is committed, not before.",
  "append.info": "`info` is up to 8 KB of text kept with the head, and its `next` says which head it belongs to.",
  "append.signal":
    "After the write was sent, a signal only ends the wait: `aborted` with `sent: true`, and the write settles by itself.",
  "append.lost":
    "If the outcome of a write is unknown, the adapter looks for its own lines or rejects with `indeterminate`; never `conflict`, never a second write.",
  "append.quota":
    "A full store refuses with `quota`, writes nothing, and accepts appends again as soon as it has space.",
  "append.busy":
    "A store that asks to retry later delays an append, or makes it `unavailable`; the lines are written once or not at all.",
  "read.order": "A read returns each line once, in log order, without gaps; `to` and `before` are exclusive.",
  "read.window":
    "A window is the last whole lines before `before` that come to at most `maxBytes`, but at least one line.",
  "read.arguments":
    "A seq is a whole number from 0, `maxBytes` is one from 1, `log` is a text; any other value is `invalid`.",
  "read.log": "A read with `log` is `conflict` if the log has another identity, or if there is none.",
  "read.committed":
    "A read returns all lines that were committed before it, and none that were appended after it began.",
  "read.chunks": "Chunks are contiguous, never empty, and at most 256 KB unless a single line is longer.",
  "read.missing": "A read of a missing session yields nothing, unless it has `log`.",
  "read.gone": "If the log is deleted or replaced during a read, the read is `conflict`.",
  "read.corrupt": "Invalid UTF-8 is `corrupt` when it is read, and is not rewritten.",
  "read.damage":
    "A window of at most 256 KB begins after invalid UTF-8; it is `corrupt` only if its last line is invalid.",
  "head.exact": "`head` returns the next seq, the log's identity and its bytes; nothing if there is no session.",
  "head.first": "With the option `first`, `head` MAY return the first line of the log as `first`.",
  "head.time": "`updatedAt` is the time of the last append by the storage's clock, and never decreases.",
  "list.all": "`list` returns every session once, with the values of `head`.",
  "list.order": "`list` has the order that the capabilities state; only a list ordered by id continues `after` an id.",
  "list.limit": "`list` returns at most `limit` sessions.",
  "list.unreadable": "A session whose head cannot be read is listed with its error, and hides no other.",
  "delete.gone":
    "One step removes the session and its documents for everyone; `delete` returns what it removed, and is idempotent.",
  "delete.purged":
    "`purged` says whether the store holds nothing of the session any more; a repeated delete removes what is left.",
  "delete.stays": "After a delete, an append with an old head is `conflict`; nothing restores a deleted log.",
  "delete.only": "A delete removes that session alone; blobs are left to collection.",
  "delete.expect":
    "With `expect`, a delete removes only a log that ends there, with this mark if it has one; otherwise it is `conflict`.",
  "sweep.unused": "A sweep removes only what no reader and no writer can reach any more.",
  "tails.torn":
    "Bytes behind the last whole line are not part of the log, and never join a line that is appended later.",
  "recover.crash": "A crash leaves everything that was acknowledged, and of the rest only whole lines.",
  "cross.same":
    "Adapters that share a layout share its sessions: each reads, continues and deletes what the other wrote, under the same heads.",
  "network.write":
    "Over a network a write is acknowledged only if it was done, once, and refused only if it never will be; else it is `indeterminate`.",
  "network.read":
    "Over a network a read returns what the store has, or fails; only the store's own answer says that something is missing.",
  "network.code":
    "What answers in place of the store is `indeterminate` or `unavailable`, or has the code of a way out; it is never the state of the store or a mistake of the caller.",
  "network.ends": "Every call ends, also if no answer comes, and the storage works again as soon as the network does.",
  "limits.lines":
    "Lines and batches over the limits of the capabilities are `invalid`, counted in UTF-8 bytes; those up to the limits are accepted.",
  "watch.sees": "`watch` reports that a log grew; it may coalesce appends, and never reports what is not there.",
  "watch.ends": "`watch` ends, without an error, with its signal, with its session and with its storage.",
  sync: "`sync` resolves when everything acknowledged is on stable storage.",
  "replace.swap": "`replace` exchanges the whole log in one step, whatever its size, or leaves it unchanged.",
  "replace.conflict":
    "After a replace, readers and writers of the old log get `conflict`, and so does a replace with an old head.",
  "docs.cas": "A document changes only if `expect` is its stored version; otherwise the call is `conflict`.",
  "docs.version":
    "A version depends on the text alone: equal texts have equal versions, different texts have different ones.",
  "docs.keys":
    "A key is `<name>` or `sessions/<id>/<name>`, and any other is `invalid`; `list` returns those with a prefix, in ascending order.",
  "docs.exact": "A document comes back exactly as it was put.",
  "blobs.named": "A blob is named by the SHA-256 of its bytes, and they come back exactly.",
  "blobs.young":
    "A put of an existing blob renews its time, so that a collector that read the old time does not delete it.",
  "blobs.delete":
    "`delete` returns whether it removed a blob; with `ifPutBefore`, it removes only one whose last put is older.",
  "blobs.purged":
    "When a sweep has left nothing, the store holds nothing of a removed blob, also not in a log or in free pages.",
  "blobs.list": "`list` returns every blob once, with its size and the time of its last put.",
} as const

export type ClauseId = keyof typeof clauses
