/** Memory files: named texts that are changed by compare-and-set, in one place for each scope. */
import type { CallOptions } from "@sessions/core/storage"

/** The memory of all scopes of a place. `createDocumentMemory` and `createFolderMemory` make one. */
export interface MemoryStore {
  /** The files of one scope, usually a folder that sessions work in. Two scopes share no file. */
  of(scope: string): MemoryFiles
}

/**
 * The files of one scope. A name is `[A-Za-z0-9][A-Za-z0-9_-]*.md` with at most 32 characters; any other is `invalid`. The same calls take
 * the two names of {@link CONSOLIDATION_FILES}, which `list` leaves out.
 */
export interface MemoryFiles {
  /** In ascending order. */
  list(o?: CallOptions): Promise<readonly string[]>
  /** Undefined if there is no such file. */
  read(name: string, o?: CallOptions): Promise<MemoryFile | undefined>
  /**
   * Replaces the file as a whole, or creates it with `expect: null`. Any other version than the stored one is `conflict`, and nothing is
   * changed. Returns the new version. `invalid` for more than 1,000,000 UTF-16 units and for lone surrogates.
   */
  write(name: string, text: string, o: CallOptions & { readonly expect: string | null }): Promise<string>
  /** Requires the version; a missing file is `conflict`. */
  delete(name: string, o: CallOptions & { readonly expect: string }): Promise<void>
}

export interface MemoryFile {
  readonly text: string
  /** Different for different texts. */
  readonly version: string
}
