import type { Diagnostic } from "../format/diagnostics.ts"
import type { CallOptions } from "../storage/contract.ts"

/** Text or bytes of one session file; a function where they can be read twice, which saves keeping a large one in memory. */
export type ImportSource =
  | string
  | Uint8Array
  | AsyncIterable<Uint8Array | string>
  | (() => AsyncIterable<Uint8Array | string>)

/** `"auto"` looks at the file. Naming a format makes any other `not_a_session`. */
export type ImportFormat = "auto" | "sessions" | "pi" | "oh-my-pi"

export interface CopyOptions extends CallOptions {
  /** Told while it works, in lines written. */
  readonly onProgress?: (progress: { readonly lines: number; readonly bytes: number }) => void
}

export interface ImportOptions extends CopyOptions {
  /** Default: a new ULID. */
  readonly id?: string
  readonly from?: ImportFormat
}

export interface ImportResult {
  readonly id: string
  /** Lines of the log, header included. */
  readonly lines: number
  readonly from: { readonly format: string; readonly version: number }
  readonly diagnostics: readonly Diagnostic[]
}

export interface ExportOptions extends CallOptions {
  /** Default `"jsonl"`: the stored lines. */
  readonly format?: "jsonl" | "markdown"
  /** With `"jsonl"`: blobs put back in place, so that the one file is everything. */
  readonly selfContained?: boolean
  /** The log as it was before its migration. `not_found` where there was none. */
  readonly backup?: boolean
}
