/** `createFileStorage` of `@sessions/fs` with the line decoder that is faster on Bun. */
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type FileStorageOptions } from "@sessions/fs"
import { decodeLines } from "./decode.ts"

/** The options of `createFileStorage`, with the same meaning. */
export type BunStorageOptions = Omit<FileStorageOptions, "decodeLines">

/**
 * Sessions as files below a folder. Files and locks are those of `createFileStorage`, so Bun, Node and Deno may write to one folder
 * in turn or at once. Connects at its first use.
 */
export function createBunStorage(options: BunStorageOptions): SessionStorage {
  return createFileStorage({ ...options, decodeLines })
}
