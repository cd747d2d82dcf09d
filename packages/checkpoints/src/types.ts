/** The public interface: `Checkpoints` of a session, its snapshots and results, and `WorkFiles`, the folder that the agent works in. */
import type { Session } from "@sessions/core"
import type { CallOptions, SessionStorage } from "@sessions/core/storage"

export interface CheckpointsOptions {
  /** Where the backups are stored: that of the sessions, or another one. */
  readonly storage: SessionStorage
  readonly files: WorkFiles
  /** How many snapshots of a session are kept, at least 2. Default 100. */
  readonly maxSnapshots?: number
  /** Larger files are not backed up. Default 50,000,000. */
  readonly maxFileBytes?: number
}

/** The checkpoints of all sessions that work in one folder. */
export interface CheckpointsRepository {
  /** The checkpoints of a session; the same object for the same handle. */
  of(session: Session): Checkpoints
  /**
   * Deletes the checkpoints of a session. Needed only if `storage` is not that of the sessions, for example in their `delete` hook: else
   * they are deleted with the session. Idempotent. The bytes are left to `collectBlobs`.
   */
  delete(sessionId: string, o?: CallOptions): Promise<void>
}

/** The checkpoints of one session. Paths are relative to the root of the files and separated by `/`. */
export interface Checkpoints {
  /**
   * Makes the snapshot of a user turn: call it once the user message was appended, before the first tool runs. Tracked files that
   * changed since their last record are backed up. A call that is repeated for the newest message returns the first snapshot.
   *
   * Rejects with the errors of the storage; then no tool may write. After a crash the snapshot is there, or it is not.
   */
  begin(messageId: string): Promise<Snapshot>
  /**
   * Backs a file up before its first change. Resolves when the storage has acknowledged the backup, and a tool must not write before
   * that. Free for files that are tracked already.
   *
   * `invalid` for a path that is absolute, has `..` or NUL, and without {@link begin} since the start or the last rewind; `not_found` if
   * the session was deleted; else the errors of the storage. Then the tool must not write.
   */
  track(path: string): Promise<Tracked>
  /** The tool with tracking: it runs after the paths that `pathOf` takes from its arguments are tracked. */
  wrap<A extends readonly unknown[], R>(
    tool: (...args: A) => R,
    pathOf: (...args: A) => string | readonly string[],
  ): (...args: A) => Promise<Awaited<R>>
  /** Newest first. */
  list(): Promise<readonly Snapshot[]>
  /** Whether there is a snapshot of this message, or with this id. */
  canRewind(target: string): Promise<boolean>
  /** The changes that {@link rewind} would make to each tracked file. Nothing is written. `not_found` as for `rewind`. */
  diff(target: string, o?: CallOptions): Promise<readonly FileChange[]>
  /**
   * Gives every tracked file the contents that it had when the turn of a message began, or when a snapshot was made: the record in that
   * snapshot; for a file that was not tracked yet, its first later one. Files that match already are left alone.
   *
   * Waits for the running turn of this process. First makes a snapshot of its own, `undo`, so that another `rewind` leads back. Files that
   * cannot be written, or whose backup is missing, are listed in `failed`; the others are restored. The same call again is harmless, also
   * after a crash, and completes what is left. No file is ever half written.
   *
   * `not_found` for a message that has no snapshot (any more), `invalid` inside a turn of this session, `aborted` between two files.
   */
  rewind(target: string, o?: RewindOptions): Promise<Rewound>
}

export interface RewindOptions extends CallOptions {
  /**
   * Also moves the conversation, after the files: to before the message, and for the snapshot of an earlier rewind to the leaf before
   * that rewind. Default false.
   */
  readonly conversation?: boolean
  /** Changes nothing and makes no snapshot; the result says what would be done. Default false. */
  readonly dryRun?: boolean
}

export interface Rewound {
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: readonly string[]
  readonly skipped: readonly { readonly path: string; readonly reason: SkipReason }[]
  readonly failed: readonly { readonly path: string; readonly error: Error }[]
  /** Id of the snapshot that undoes this call; missing after a dry run. */
  readonly undo?: string
}

export type Tracked =
  | {
      readonly tracked: true
      /** Version of the newest backup of the file, from 1. */
      readonly version: number
    }
  | { readonly tracked: false; readonly reason: SkipReason }

/**
 * Why a file is not backed up: it has more than `maxFileBytes`; it is a link, a folder or a device, or behind a link; its permissions do
 * not let it be read; its path, in an imported log, is not below the root.
 */
export type SkipReason = "too_large" | "not_a_file" | "unreadable" | "outside"

export interface Snapshot {
  readonly id: string
  /** The user message whose turn began; for a rewind the message that it went back to. */
  readonly messageId: string
  /** ISO 8601. */
  readonly at: string
  readonly reason: "turn" | "rewind"
  /** The files that differ from the snapshot before, and those whose first change was in this turn. */
  readonly files: readonly SnapshotFile[]
}

export interface SnapshotFile {
  readonly path: string
  /** From 1; counts the kept backups of the file. */
  readonly version: number
  readonly state: "file" | "absent" | SkipReason
  /** 0 unless the state is `file`. */
  readonly bytes: number
}

export interface FileChange {
  readonly path: string
  /** `missing_backup`: the storage has lost the bytes. `skipped`: the file is left as it is, for the `reason`. */
  readonly change: "restore" | "remove" | "none" | "missing_backup" | "skipped"
  readonly reason?: SkipReason
}

/**
 * The files of a folder, as the checkpoints need them. `createWorkFiles` of `@sessions/checkpoints/node` is for Node, Bun and Deno; a
 * sandbox or a page brings its own. Paths are relative, with `/`, without empty parts, `.` and `..`.
 */
export interface WorkFiles {
  readonly root: string
  /**
   * A file below something that is no folder is absent. A link, also one in the place of a folder of the path, is `other`. An error with the
   * code `EACCES` or `EPERM` makes the file `unreadable`.
   */
  stat(path: string): Promise<FileStat>
  /** All bytes; undefined if there is no file. An error with the code `EACCES` or `EPERM` makes the file `unreadable`. */
  read(path: string): Promise<Uint8Array | undefined>
  /**
   * Replaces or creates the file in one step, with the folders above it; also in the place of a folder without any file. Refuses to
   * replace a link, a device or another folder, and to follow a link. Without `mode` an existing file keeps its own.
   */
  write(path: string, bytes: Uint8Array, o?: { readonly mode?: number }): Promise<void>
  /** Removes a file; there may be none. Refuses anything else, and to follow a link. */
  remove(path: string): Promise<void>
}

export type FileStat =
  | {
      readonly kind: "file"
      readonly bytes: number
      readonly mtimeMs: number
      /** Whatever else changes when the file does, for example its inode and ctime. */
      readonly id?: string
      /** Permission bits. */
      readonly mode?: number
    }
  | { readonly kind: "absent" }
  | { readonly kind: "folder" }
  | { readonly kind: "other" }
