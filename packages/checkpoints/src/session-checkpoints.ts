/** The checkpoints of one session: snapshots at the start of turns, backups before first changes, and the way back. */
import { type Session, SessionError } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { type CallOptions, checkOptions, checkSignal, createQueue, type OptionNames } from "@sessions/core/storage"
import { SnapshotDocuments, type StoredSnapshot } from "./documents/documents.ts"
import type { SnapshotHead } from "./documents/format.ts"
import { type FileState, FileStates } from "./file-states.ts"
import { forEachOf } from "./for-each-of.ts"
import { importedSnapshots } from "./imported.ts"
import { checkPath } from "./path.ts"
import { hashIn, isSame, type FileRecord } from "./record.ts"
import { planChange, type PlannedChange, restore, toResult } from "./restore.ts"
import { filesAt, type Latest, latestOf } from "./timeline.ts"
import type { Checkpoints, CheckpointsOptions, FileChange, RewindOptions, Rewound, Snapshot, Tracked } from "./types.ts"

/** Files that are read at once: four of the default `maxFileBytes` are 200 MB. */
const CONCURRENT = 4

const CALL_OPTIONS: OptionNames<CallOptions> = { signal: true }
const REWIND_OPTIONS: OptionNames<RewindOptions> = { signal: true, conversation: true, dryRun: true }

/** A snapshot that a message or an id names, and the files at it. */
interface Target {
  readonly snapshot: StoredSnapshot
  readonly files: ReadonlyMap<string, FileRecord>
}

interface Batch {
  readonly records: Map<string, FileRecord>
  readonly stored: Promise<void>
}

export class SessionCheckpoints implements Checkpoints {
  readonly #session: Session
  readonly #options: Required<CheckpointsOptions>
  readonly #documents: SnapshotDocuments
  readonly #states: FileStates
  /** The newest record of each tracked file. */
  #tracked: Map<string, Latest> = new Map()
  /** The snapshot of the running turn. */
  #current: string | undefined
  #imported: readonly StoredSnapshot[] | undefined
  /** Whether the storage is that of the session, which deletes the documents with it. */
  #isBesideLog: boolean | undefined
  /** First backups that are under way, by path. */
  readonly #tracking = new Map<string, Promise<Tracked>>()
  /** The records that the next put takes. */
  #batch: Batch | undefined
  /** Everything that reads or changes documents runs one after another. */
  readonly #queue = createQueue()

  constructor(session: Session, options: Required<CheckpointsOptions>) {
    this.#session = session
    this.#options = options
    this.#documents = new SnapshotDocuments(options.storage, session.id)
    this.#states = new FileStates(options.files, options.storage, options.maxFileBytes)
  }

  begin(messageId: string): Promise<Snapshot> {
    return this.#queue.run(async () => {
      checkTarget(messageId)
      await this.#load()
      const newest = this.#documents.snapshots.findLast(({ head }) => head.evicted !== true)
      const isRepeated = newest?.head.reason === "turn" && newest.head.messageId === messageId
      const id = isRepeated ? newest.id : (await this.#take({ messageId, reason: "turn" }, [])).id
      this.#current = id
      const begun = this.#documents.snapshots.find((one) => one.id === id) as StoredSnapshot
      // Not awaited: the turn may begin. A failure leaves more snapshots, and the next turn tries again.
      if (!isRepeated) this.#queue.run(() => this.#documents.evict(this.#options.maxSnapshots)).catch(() => undefined)
      return toShown(begun, (path) => this.#tracked.get(path)?.version ?? 1)
    })
  }

  async track(given: string): Promise<Tracked> {
    const path = checkPath(given)
    if (this.#current === undefined) {
      const message = `No snapshot of this turn was made: call begin(messageId) after the user message, before a file is changed.`
      throw new SessionError("invalid", message, { session: this.#session.id })
    }
    const known = this.#tracked.get(path)
    if (known !== undefined) return toTracked(known)
    const running = this.#tracking.get(path)
    if (running !== undefined) return running
    const tracking = this.#trackFirst(path).finally(() => this.#tracking.delete(path))
    this.#tracking.set(path, tracking)
    return tracking
  }

  wrap<A extends readonly unknown[], R>(
    tool: (...args: A) => R,
    pathOf: (...args: A) => string | readonly string[],
  ): (...args: A) => Promise<Awaited<R>> {
    return async (...args): Promise<Awaited<R>> => {
      const paths = pathOf(...args)
      await Promise.all((typeof paths === "string" ? [paths] : paths).map((path) => this.track(path)))
      return await tool(...args)
    }
  }

  list(): Promise<readonly Snapshot[]> {
    return this.#queue.run(async () => {
      await this.#load()
      await this.#loadImported({})
      return this.#shown().reverse()
    })
  }

  canRewind(target: string): Promise<boolean> {
    return this.#queue.run(async () => {
      checkTarget(target)
      await this.#load()
      await this.#loadImported({})
      return this.#find(target) !== undefined
    })
  }

  diff(target: string, o: CallOptions = {}): Promise<readonly FileChange[]> {
    return this.#queue.run(async () => {
      checkOptions("diff", o, CALL_OPTIONS)
      const { files } = await this.#target(target, o)
      const changes: FileChange[] = []
      await forEachOf(files, CONCURRENT, async ([path, wanted]) => {
        checkSignal(o.signal)
        const { record } = "skipped" in wanted ? { record: wanted } : await this.#states.of(path, wanted)
        changes.push(await this.#withBackup(planChange(path, wanted, record)))
      })
      return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
    })
  }

  async rewind(target: string, o: RewindOptions = {}): Promise<Rewound> {
    checkOptions("rewind", o, REWIND_OPTIONS)
    const { conversation = false, dryRun = false, ...call } = o
    if (dryRun) return toResult(await this.diff(target, call), [])
    let rewound: { readonly result: Rewound; readonly leaf: string | null } | undefined
    return this.#session.turn(async (turn) => {
      // A turn runs again if another writer appended before the leaf was moved; the files are back by then.
      rewound ??= await this.#queue.run(() => this.#rewindFiles(target, call, conversation))
      const { result, leaf } = rewound
      if (conversation && leaf !== turn.leafId) await (leaf === null ? turn.resetLeaf(call) : turn.branch(leaf, call))
      return result
    }, call)
  }

  async #rewindFiles(
    wanted: string,
    call: CallOptions,
    conversation: boolean,
  ): Promise<{ readonly result: Rewound; readonly leaf: string | null }> {
    const { snapshot, files } = await this.#target(wanted, call)
    const leaf = conversation ? await this.#leafBefore(snapshot, call) : null
    const { messageId } = snapshot.head
    // A file that is changed from here on needs a new backup, so a new turn has to begin.
    this.#current = undefined
    const head = { messageId, reason: "rewind", leafId: this.#session.leafId } as const
    const paths = [...files].flatMap(([path, record]) => ("skipped" in record ? [] : [path]))
    const { id: undo, states } = await this.#take(head, paths)
    const changes = [...files].map(([path, record]) => planChange(path, record, states.get(path)?.record ?? record))
    const { storage, files: workFiles, maxSnapshots } = this.#options
    try {
      const restoring = { files: workFiles, states: this.#states, storage }
      return { result: { ...(await restore(restoring, changes, states, call)), undo }, leaf }
    } finally {
      await this.#documents.evict(maxSnapshots, snapshot.id).catch(() => undefined)
    }
  }

  /** The leaf before the turn or the rewind of a snapshot. */
  async #leafBefore({ head }: StoredSnapshot, o: CallOptions): Promise<string | null> {
    if (head.leafId !== undefined) return head.leafId
    const entry = await this.#session.entry(head.messageId, o)
    if (entry !== undefined) return entry.parentId
    const message = `The log has no entry ${head.messageId}; rewind without \`conversation\`.`
    throw new SessionError("not_found", message, { session: this.#session.id })
  }

  async #trackFirst(path: string): Promise<Tracked> {
    const { record } = await this.#states.backUp(path, undefined)
    await this.#store(path, record)
    return toTracked(this.#tracked.get(path) as Latest)
  }

  /** Calls that wait for the same put share it. */
  #store(path: string, record: FileRecord): Promise<void> {
    if (this.#batch === undefined) {
      const records = new Map<string, FileRecord>()
      const stored = this.#queue.run(() => {
        this.#batch = undefined
        return this.#storeAll(records)
      })
      this.#batch = { records, stored }
    }
    this.#batch.records.set(path, record)
    return this.#batch.stored
  }

  async #storeAll(records: Map<string, FileRecord>): Promise<void> {
    let id = this.#current ?? this.#documents.snapshots.at(-1)?.id
    while (id === undefined || !(await this.#documents.add(id, records))) {
      // Another process has evicted the snapshot. The first record of a file serves all earlier messages, so it may go into any.
      await this.#load()
      id = this.#documents.snapshots.findLast(({ head }) => head.evicted !== true)?.id
      if (id === undefined) throw this.#deleted()
      for (const path of records.keys()) if (this.#tracked.has(path)) records.delete(path)
    }
    await this.#checkNotDeleted()
    for (const [path, record] of records) this.#tracked.set(path, { record, version: 1 })
  }

  async #load(o: CallOptions = {}): Promise<void> {
    this.#isBesideLog ??= (await this.#options.storage.head(this.#session.id, o)) !== undefined
    await this.#documents.load(o)
    this.#tracked = latestOf(this.#documents.snapshots)
  }

  async #loadImported(o: CallOptions): Promise<readonly StoredSnapshot[]> {
    return (this.#imported ??= await importedSnapshots(this.#session, this.#options.files.root, o))
  }

  /** Backs up the tracked files, and those in `more`, that differ from their newest records, and stores the snapshot. */
  async #take(
    given: Omit<SnapshotHead, "at">,
    more: readonly string[],
  ): Promise<{ readonly id: string; readonly states: ReadonlyMap<string, FileState> }> {
    const { id, head } = this.#newSnapshot(given)
    const states = new Map<string, FileState>()
    const changed = new Map<string, FileRecord>()
    await forEachOf(new Set([...this.#tracked.keys(), ...more]), CONCURRENT, async (path) => {
      const stored = this.#tracked.get(path)?.record
      const state = await this.#states.backUp(path, stored)
      states.set(path, state)
      if (!isSame(state.record, stored)) changed.set(path, state.record)
    })
    await this.#documents.create(id, head, changed)
    await this.#checkNotDeleted()
    this.#tracked = latestOf(this.#documents.snapshots)
    return { id, states }
  }

  /** Ids follow the newest snapshot, also if the clock was set back or another machine's was ahead. */
  #newSnapshot(head: Omit<SnapshotHead, "at">): { readonly id: string; readonly head: SnapshotHead } {
    const newest = this.#documents.snapshots.at(-1)
    const time = newest === undefined ? Date.now() : Math.max(Date.now(), Date.parse(newest.head.at) + 1)
    return { id: createIds(() => time)(), head: { ...head, at: new Date(time).toISOString() } }
  }

  async #target(target: string, o: CallOptions): Promise<Target> {
    checkTarget(target)
    await this.#load(o)
    await this.#loadImported(o)
    const found = this.#find(target)
    if (found !== undefined) return found
    const oldest = this.#all().find(({ head }) => head.evicted !== true)
    const message =
      oldest === undefined
        ? `There is no snapshot of ${target}, nor any other of this session.`
        : `There is no snapshot of ${target} (any more). The oldest that is there is ${oldest.id}, of the message ${oldest.head.messageId}.`
    throw new SessionError("not_found", message, { session: this.#session.id })
  }

  /** A message means the first snapshot of its turn. */
  #find(target: string): Target | undefined {
    const all = this.#all()
    const index = all.findIndex(({ id, head }) => {
      return head.evicted !== true && (id === target || (head.reason === "turn" && head.messageId === target))
    })
    const snapshot = all[index]
    return snapshot && { snapshot, files: filesAt(all, index) }
  }

  #all(): readonly StoredSnapshot[] {
    return [...(this.#imported ?? []), ...this.#documents.snapshots]
  }

  /** Oldest first. */
  #shown(): Snapshot[] {
    const versions = new Map<string, number>()
    const next = (path: string): number => {
      const version = (versions.get(path) ?? 0) + 1
      versions.set(path, version)
      return version
    }
    const shown = this.#all().map((snapshot) => ({ snapshot, as: toShown(snapshot, next) }))
    return shown.flatMap(({ snapshot, as }) => (snapshot.head.evicted === true ? [] : [as]))
  }

  async #withBackup(planned: PlannedChange): Promise<FileChange> {
    const { wanted, ...change } = planned
    if (change.change !== "restore" || !("blob" in wanted) || wanted.blob === null) return change
    const isThere = await this.#options.storage.blobs.has(hashIn(wanted.blob))
    return isThere ? change : { path: change.path, change: "missing_backup" }
  }

  /** A put may come after the deletion of the session, and would never be deleted. */
  async #checkNotDeleted(): Promise<void> {
    if (this.#isBesideLog !== true || (await this.#options.storage.head(this.#session.id)) !== undefined) return
    await this.#documents.deleteAll()
    throw this.#deleted()
  }

  #deleted(): SessionError {
    const message = `${this.#session.id} or its checkpoints were deleted; no file may be changed.`
    return new SessionError("not_found", message, { session: this.#session.id })
  }
}

function checkTarget(target: unknown): void {
  if (typeof target === "string" && target !== "") return
  throw new SessionError("invalid", "A snapshot is named by the id of a user message, or by its own id.")
}

function toTracked({ record, version }: Latest): Tracked {
  return "skipped" in record ? { tracked: false, reason: record.skipped } : { tracked: true, version }
}

function toShown({ id, head, files }: StoredSnapshot, versionOf: (path: string) => number): Snapshot {
  const { messageId, at, reason } = head
  return {
    id,
    messageId,
    at,
    reason,
    files: [...files].map(([path, record]) => {
      const version = versionOf(path)
      if ("skipped" in record) return { path, version, state: record.skipped, bytes: 0 }
      return { path, version, state: record.blob === null ? "absent" : "file", bytes: record.bytes }
    }),
  }
}
