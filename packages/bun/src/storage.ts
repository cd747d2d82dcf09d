/** `createFileStorage` of `@sessions/fs` with the line decoder that is faster on Bun. */
import { checkOptions, type OptionNames, type SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type FileStorageOptions } from "@sessions/fs"
import { decodeLines } from "./decode.ts"

/** The options of `createFileStorage`, with the same meaning. */
export type BunStorageOptions = Omit<FileStorageOptions, "decodeLines">

const OPTIONS: OptionNames<BunStorageOptions> = {
  root: true,
  durability: true,
  allowSharedRoot: true,
  maxPartBytes: true,
  maxSessionBytes: true,
  lockTimeout: true,
  files: true,
}

/**
 * Sessions as files below a folder. Files and locks are those of `createFileStorage`, so Bun, Node and Deno may write to one folder
 * in turn or at once. Connects at its first use. Throws `invalid` for unknown options and wrong values.
 */
export function createBunStorage(options: BunStorageOptions): SessionStorage {
  checkOptions("createBunStorage", options, OPTIONS)
  return createFileStorage({ ...options, decodeLines })
}
