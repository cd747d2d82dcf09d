/** Gives files the states of a plan: what is to be done to each (pure), and doing it. */
import { SessionError } from "@sessions/core"
import { type CallOptions, checkSignal, type SessionStorage } from "@sessions/core/storage"
import type { FileState, FileStates } from "./file-states.ts"
import { type FileRecord, hashIn, isSame } from "./record.ts"
import type { FileChange, Rewound, WorkFiles } from "./types.ts"

export interface PlannedChange extends FileChange {
  readonly wanted: FileRecord
}

/**
 * Plans the change that turns a file in the state `current` into the record `wanted`. A file that cannot be backed up is not replaced, since that could not
 * be undone.
 */
export function planChange(path: string, wanted: FileRecord, current: FileRecord): PlannedChange {
  if ("skipped" in wanted) return { path, wanted, change: "skipped", reason: wanted.skipped }
  if (isSame(wanted, current)) return { path, wanted, change: "none" }
  if ("skipped" in current) return { path, wanted, change: "skipped", reason: current.skipped }
  return { path, wanted, change: wanted.blob === null ? "remove" : "restore" }
}

export interface Restoring {
  readonly files: WorkFiles
  readonly states: FileStates
  readonly storage: SessionStorage
}

/** A failure with one file is listed, and the rest goes on. Rejects only with `aborted`, between two files. */
export async function restore(
  { files, states, storage }: Restoring,
  changes: readonly PlannedChange[],
  before: ReadonlyMap<string, FileState>,
  o: CallOptions,
): Promise<Rewound> {
  const failed: { path: string; error: Error }[] = []
  const done: PlannedChange[] = changes.filter(({ change }) => change === "none" || change === "skipped")
  // A file may have to leave the place of a folder that another one needs.
  const removals = changes.filter(({ change }) => change === "remove")
  const others = changes.filter(({ change }) => change === "restore")
  for (const planned of [...removals, ...others]) {
    checkSignal(o.signal)
    const { path, wanted } = planned
    try {
      const bytes = await bytesOf(storage, path, wanted)
      if (!(await states.isStill(path, before.get(path) as FileState))) throw changedMeanwhileError(path)
      if (bytes === undefined) await files.remove(path)
      else await files.write(path, bytes, "mode" in wanted && wanted.mode !== undefined ? { mode: wanted.mode } : {})
      done.push(planned)
    } catch (error) {
      failed.push({ path, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  return toResult(done, failed)
}

/** The lists of a result, by the kind of change. A missing backup is a failure. */
export function toResult(changes: readonly FileChange[], failed: Rewound["failed"]): Rewound {
  const paths = (kind: FileChange["change"]): string[] =>
    changes.flatMap(({ path, change }) => (change === kind ? [path] : []))
  return {
    restored: paths("restore"),
    removed: paths("remove"),
    unchanged: paths("none"),
    skipped: changes.flatMap(({ path, reason }) => (reason === undefined ? [] : [{ path, reason }])),
    failed: [...failed, ...paths("missing_backup").map((path) => ({ path, error: missingBackupError(path) }))],
  }
}

async function bytesOf({ blobs }: SessionStorage, path: string, wanted: FileRecord): Promise<Uint8Array | undefined> {
  if (!("blob" in wanted) || wanted.blob === null) return undefined
  const bytes = await blobs.get(hashIn(wanted.blob))
  if (bytes === undefined) throw missingBackupError(path)
  return bytes
}

function missingBackupError(path: string): SessionError {
  return new SessionError("not_found", `The storage has lost the backup of ${path}; the file is left as it is.`)
}

function changedMeanwhileError(path: string): SessionError {
  return new SessionError("conflict", `${path} was changed during the rewind; it is left as it is. Rewind again.`)
}
