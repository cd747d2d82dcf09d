/** An open session as reading, compaction and transfer see it. `LiveSession` implements it; nothing else imports that class. */
import type { SettingsLayers } from "../compaction-settings/layers.ts"
import type { Diagnostic, DiagnosticCode } from "../format/diagnostics.ts"
import type { SessionError } from "../format/errors.ts"
import type { Extensions } from "../format/names.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { InfoProjection } from "../info/projection.ts"
import type { LoadedLog, LogStore } from "../log/load.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { Head, Seq, SessionStorage } from "../storage/contract.ts"
import type { SessionState } from "../write/session-state.ts"
import type { AppendOptions, AppendResult } from "../write/types.ts"
import type { Emitter } from "./events.ts"
import type { Hooks } from "./hooks.ts"

/** A log that is stored in another version. It was read as one of this version, and its entries exist only in memory. */
export interface OtherVersion {
  /** Why it can only be read; undefined: the first write replaces it by one of this version. */
  readonly refusal: SessionError | undefined
  /** Before the first write. Rejects with the refusal. */
  migrate(): Promise<void>
  /** Rejects if the stored log is not as it was read: it cannot be continued with further lines. `seen`: a head that the storage reported. */
  checkUnchanged(seen: Head | undefined): Promise<void>
}

export interface ReadableSession {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  readonly store: LogStore
  /** Undefined for a log of this version. */
  readonly otherVersion: OtherVersion | undefined
  readonly options: { readonly extensions: Extensions | undefined }
  /** Resolves when every append made so far is settled; `indeterminate` if the outcome of one cannot be found out. */
  drain(): Promise<void>
}

export interface CompactableSession extends ReadableSession {
  readonly options: ReadableSession["options"] & { readonly hooks: readonly Hooks[]; readonly newId: () => string }
  readonly events: Emitter
  readonly compaction: CompactionProgress
  /** Called when a handle is closed; each checks whether it was its own. */
  readonly closeListeners: Set<() => void>
  append(entries: readonly NewEntry[], o?: AppendOptions): Promise<AppendResult>
  /** Replaces the diagnostic of the same code, and emits it. */
  report(diagnostic: Diagnostic): void
  clear(code: DiagnosticCode): void
  readonly reportHookFailure: (hook: string, error: unknown) => void
}

/** A session whose log can be read again. */
export interface ReloadableSession extends ReadableSession {
  readonly options: ReadableSession["options"] & { readonly readWindow: ReadWindow }
  readonly reading: LogReading
}

/** Reads the log of a session. From `open.ts`, which imports the class of sessions. */
export interface LogReading {
  /** Opens it another time. */
  open(): Promise<ReloadableSession>
  load(): Promise<LoadedLog>
  /** Makes the session information of a log that was loaded. */
  infoOf(loaded: LoadedLog): Promise<() => InfoProjection | undefined>
}

export interface CompactionProgress {
  /** One compaction of a session runs at a time. */
  running: boolean
  /** In a row. */
  failures: number
  /** Where the log ended when an automatic one failed, which may have been paid. The log says nothing of those. */
  failedAt?: Seq | undefined
  /** The model whose window is not known, once it was reported. */
  unknownModel?: string | undefined
  /** The rule that kept everything, once it was reported. */
  stuck?: string | undefined
  /** An automatic compaction whose context no provider has measured yet, and the failures before it. */
  unproved?: { readonly id: string; readonly failures: number } | undefined
  /** The situation that the failures in a row belong to: another model, an edit, a deletion or other settings begin anew. */
  situation?: string | undefined
}

/** The handle that asked for a compaction. */
export interface CompactionCaller {
  /** Settings, the weakest layer first. */
  readonly layers: SettingsLayers
  /** Throws `closed` once the handle is closed. */
  readonly checkOpen: () => unknown
}
