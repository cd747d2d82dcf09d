/** Opens the storage that `--store` names. */
import { isAbsolute, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "@sessions/memory"
import { UsageError } from "../errors.ts"

/** Takes the text after the colon of the URL, and the folder that relative paths are resolved against. */
export type StoreFactory = (address: string, cwd: string) => SessionStorage

export const DEFAULT_STORE = "file:./.sessions"

export const STORES: Readonly<Record<string, StoreFactory>> = {
  file: (address, cwd) => createFileStorage({ root: folderOf(address, cwd) }),
  memory: () => createMemoryStorage(),
}

/** A path needs no scheme. A single letter before the colon is a drive, not a scheme. */
export function openStore(
  url: string,
  cwd: string,
  stores: Readonly<Record<string, StoreFactory>> = STORES,
): SessionStorage {
  const [, scheme = "file", address = url] = /^([A-Za-z][A-Za-z0-9+.-]+):(.*)$/s.exec(url) ?? []
  const open = Object.hasOwn(stores, scheme) ? stores[scheme] : undefined
  if (open !== undefined) return open(address, cwd)
  const known = Object.keys(stores).map((name) => `${name}:`)
  throw new UsageError(`unknown store type ${JSON.stringify(scheme)} in ${url}; use a path or ${known.join(", ")}.`)
}

function folderOf(address: string, cwd: string): string {
  if (address === "") throw new UsageError("file: needs a folder, for example file:./.sessions.")
  if (!address.startsWith("//")) return isAbsolute(address) ? address : resolve(cwd, address)
  try {
    return fileURLToPath(`file:${address}`)
  } catch {
    throw new UsageError(`file:${address} is not a file URL of this machine; use file:PATH.`)
  }
}
