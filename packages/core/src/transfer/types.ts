/** The options and results of the calls on whole sessions. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { AnyOwnEntry, Entry, OwnEntry } from "../format/entry.ts"
import type { Header } from "../format/header.ts"
import type { OpenTips } from "../log/projected-tips.ts"
import type { TreeNode } from "../log/nodes.ts"
import type { OpenOptions } from "../session/repository-types.ts"
import type { CallOptions } from "../storage/contract.ts"

/** Text or bytes of one session file. A function is called for each reading, so that a large file is not kept in memory. */
export type ImportSource =
  | string
  | Uint8Array
  | AsyncIterable<Uint8Array | string>
  | (() => AsyncIterable<Uint8Array | string>)

/** `"auto"` detects the format of the file. With another value, a file in a different format is `not_a_session`. */
export type ImportFormat = "auto" | "sessions" | "pi" | "oh-my-pi"

/**
 * Reads sessions of a format that this package does not know. It converts them to records of version 4 as `docs/format.md` describes them;
 * `import` writes these, with its limits, hooks and blobs. Its errors reject the import unchanged.
 */
export interface Importer {
  /** The name of the format, as in `origin.format` of the header. */
  readonly format: string
  /** Whether a file is of this format. `start`: its text up to 65,536 UTF-16 units. If not, `import` rejects with `not_a_session`. */
  identify(start: string): boolean
  /**
   * Reads one session: yields its header, then its entries in log order, each after its parent, one or several at a time: in a large file,
   * a step of an iterator for each entry would cost as much as parsing it. `main` is the text of the file in pieces of
   * any size, without a BOM; `beside` reads a file next to it, such as a further part or metadata, and is undefined for one that is not
   * there. `note` adds a diagnostic to the result.
   *
   * Called several times for one import, which reads the beginning, then measures the log, then writes it. Each call must yield equal
   * records and must not change one that it has yielded: ids that the format does not have must follow from the file (`ulidAt` of `/format`).
   *
   * The header must have `origin` with this format and the version of the file. `import` sets its `id`, `origin.lines` and, unless given,
   * `origin.settled`: what the file has on other branches was left knowingly. Give 0 if the importer writes `leaf` entries with `settles`.
   * `import` also sets the `seq` of each entry, and moves large texts and images to the blob store.
   */
  read(
    source: {
      readonly main: AsyncIterable<string>
      readonly beside: (name: string) => AsyncIterable<Uint8Array> | undefined
    },
    o: CallOptions & { readonly note: (diagnostic: Diagnostic) => void },
  ): AsyncIterable<Header | Entry | readonly (Header | Entry)[]>
  /**
   * Called if the log has more than 500 KB. Its lines are then put there when they are counted, so that a log of any length takes little
   * memory, and the file is not read and converted again to write them. Only a log of more than 8 MB with large values, which move to the
   * blob store, is read twice all the same. Default: a log of up to 8 MB is held in memory, the file of a longer one is read twice.
   */
  readonly hold?: () => LineHold
}

/** Where an import puts the lines of a log between counting and writing them: `holdInFile` of `@sessions/fs` is a temporary file. */
export interface LineHold {
  /** Adds a line, which has no line feed. */
  push(line: string): void
  /** All lines in the order in which they came, some at a time. Called once, after the last `push`. */
  lines(): AsyncIterable<readonly string[]>
}

export interface CopyOptions extends CallOptions {
  /** Called after each batch, with the lines and bytes stored so far. */
  readonly onProgress?: (progress: { readonly lines: number; readonly bytes: number }) => void
}

export interface ImportOptions extends CopyOptions {
  /** Default: a new ULID. */
  readonly id?: string
  /** The format of the file, or the importer that reads it. Default `"auto"`. */
  readonly from?: ImportFormat | Importer
  /**
   * The files next to the imported one, for an {@link Importer}; undefined for a name that is not there. Called for each reading of the
   * session. Names come from the importer, which may have found them in the file: do not follow them out of the folder. `invalid` without
   * an importer.
   */
  readonly beside?: (name: string) => AsyncIterable<Uint8Array> | undefined
  /**
   * Hashes of the blobs that came with the file; put them into `storage.blobs` first. Every other reference is replaced as that of a
   * missing blob, and reported as `missing_blob`: all sessions of a storage share its blobs, so a file could show another session's
   * content by naming its hash. `"any"`, for files that you trust, keeps every reference. Default: none. Content inside the file, as in
   * a self-contained export, needs no hash.
   */
  readonly blobs?: readonly string[] | ReadonlySet<string> | "any"
}

export interface ImportResult {
  readonly id: string
  /** Lines of the log, header included. */
  readonly lines: number
  readonly from: { readonly format: string; readonly version: number }
  readonly diagnostics: readonly Diagnostic[]
}

export interface MergeResult {
  /** Entries that the other storage got. */
  readonly sent: number
  /** Entries that this storage got. */
  readonly received: number
  /** The entry at which both logs end, apart from annotations and `leaf` entries; null for none. */
  readonly leaf: string | null
  /** The branches of the merged log that no writer left knowingly; empty for none. */
  readonly openTips: OpenTips
  /** Ids of entries that both logs have with different content. They were not changed. */
  readonly differing: readonly string[]
  /** `missing_blob` for each reference of a written line whose blob its storage does not have; `started_twice` for each tool call that both logs have started. */
  readonly diagnostics: readonly Diagnostic[]
}

/** The result of `deleteOldSessions`. Both lists have the sessions whose last message is before the limit, the oldest first. */
export interface DeletedSessions {
  /** Sessions that were deleted; with `dryRun`, that would be. */
  readonly removed: readonly {
    readonly id: string
    readonly lastMessageAt: string
    /** Size of the log. */
    readonly bytes: number
    /** False: deleted, but some bytes are left; `delete` or `collect` tries again. With `dryRun` true. */
    readonly purged: boolean
  }[]
  /**
   * Sessions that stay. `"open"`: one that this repository has open or keeps in memory, or for which a server has prompts; `"changed"`:
   * another writer appended to it, replaced or deleted it since it was listed; `"failed"`: it could not be read or deleted, see `error`.
   * Whatever cannot be read is among them, at the end if its time is unknown.
   */
  readonly skipped: readonly {
    readonly id: string
    readonly why: "open" | "changed" | "failed"
    readonly lastMessageAt?: string
    readonly error?: unknown
  }[]
}

export interface ExportOptions extends CallOptions {
  /** Default `"jsonl"`: the stored lines. */
  readonly format?: "jsonl" | "markdown"
  /** With `"jsonl"`: inlines the blobs, so that one file holds the whole session. */
  readonly selfContained?: boolean
  /** The log as it was before its migration. `not_found` without a migration. */
  readonly backup?: boolean
}

export interface VerifyReport {
  readonly id: string
  readonly lines: number
  readonly bytes: number
  readonly diagnostics: readonly Diagnostic[]
  /** Stored data is missing or invalid. False for diagnostics about the origin of the log (`diverged`, `repaired`, `left_out`, …). */
  readonly damaged: boolean
}

export interface ForkOptions extends OpenOptions {
  /** The entry that the fork ends with. Default: the leaf. */
  readonly at?: string
  /** Default: a new ULID. */
  readonly id?: string
}

export type ContinueOptions = OpenOptions &
  (
    | { readonly cwd: string; readonly pointer?: string; readonly create?: boolean }
    | { readonly cwd?: undefined; readonly pointer?: undefined; readonly create: false }
  )

export interface Pointer {
  readonly session: string
  readonly cwd?: string
}

export interface DeleteOldOptions extends CallOptions {
  /** Milliseconds since the last message. */
  readonly olderThan: number
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  /** Deletes nothing, and returns what it would delete. Default false. */
  readonly dryRun?: boolean
}

export interface SessionTree<Own extends OwnEntry = AnyOwnEntry> {
  readonly roots: readonly TreeNode<Own>[]
  readonly leafId: string | null
  /** Ids from the root to the leaf. */
  readonly path: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}
