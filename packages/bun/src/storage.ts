/** The storage: that of `@sessions/fs`, with what Bun does faster in another way put in. */
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type FileStorageOptions } from "@sessions/fs"
import { decodeLines } from "./decode.ts"

/** Those of `createFileStorage`, which mean the same here. */
export type BunStorageOptions = Omit<FileStorageOptions, "decodeLines">

/**
 * Sessions as files below a folder. Files and locks are those of `createFileStorage`, so that writers in Bun, Node and Deno take
 * turns on one folder. Connects at its first use.
 */
export function createBunStorage(options: BunStorageOptions): SessionStorage {
  return createFileStorage({ ...options, decodeLines })
}
