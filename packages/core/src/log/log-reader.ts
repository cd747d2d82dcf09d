/** Readers of logs of older versions, as a session knows them. `@sessions/core/migrations` has the values, so only programs that have such logs load the code. */
import type { BlobLimits } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Header } from "../format/header.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"

/** Reads logs of older versions in their place, for `readers` of `createSessions`: `piLogs` of `@sessions/core/migrations` is one. */
export interface LogReader {
  /** The programs whose logs it reads. */
  readonly formats: readonly string[]
}

/** A log as one of this version, in memory. */
export interface ReadLog {
  readonly header: Header
  readonly log: EntryLog
  readonly diagnostics: readonly Diagnostic[]
  readonly from: { readonly format: string; readonly version: number }
}

/** The functions that a session calls. */
export interface LogReaderCode extends LogReader {
  /** Whether it is the reader of the log with these lines. */
  reads(lines: readonly string[]): boolean
  read(lines: readonly string[], id: string): ReadLog
  /** Replaces the stored log by one of this version, before its first write. Leaves a log of this version unchanged. */
  replace(
    storage: SessionStorage,
    id: string,
    o: CallOptions & { readonly blobs: BlobLimits; readonly now: () => number },
  ): Promise<unknown>
}
