/** The storages that are fuzzed: over files, over a bucket in memory and in memory, with access to the bytes that they store. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type Files, nodeFiles } from "@sessions/fs"
import { createMemoryLocation, createMemoryStorage } from "../../../packages/memory/src/index.ts"
import { FakeBucket } from "../../../packages/s3/test/fake-bucket.ts"
import { openStorage, SMALL_SIZES } from "../../../packages/s3/test/open-storage.ts"

export interface Steps {
  count: number
  readonly most: number
}

export interface Store {
  readonly name: string
  /** Everything that is stored, by path or key. Empty for a storage whose bytes cannot be damaged. */
  read(): Map<string, Uint8Array>
  write(path: string, bytes: Uint8Array | undefined): void
  /** Whether it is the log itself, which reading must not change; anything else is derived from it. */
  isLog(path: string): boolean
  /** A new storage over the bytes. Each step of its I/O counts. */
  open(steps: Steps): SessionStorage
  remove(): void
}

/** Throws an error without a code, which is a finding. */
function step(steps: Steps): void {
  if (++steps.count > steps.most) throw new TypeError(`No end after ${steps.most} steps of I/O`)
}

export function fileStore(maxPartBytes: number): Store {
  const root = mkdtempSync(join(tmpdir(), "sessions-fuzz-"))
  return {
    name: "fs",
    read: () =>
      new Map(
        readdirSync(root, { withFileTypes: true, recursive: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .map((path) => [relative(root, path), readFileSync(path)] as const),
      ),
    write(path, bytes) {
      if (bytes === undefined) return rmSync(join(root, path))
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), bytes)
    },
    isLog: (path) => /^s\/session[^/]*\.jsonl$/.test(path),
    open: (steps) => createFileStorage({ root, maxPartBytes, files: counted(nodeFiles, steps) }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function counted(files: Files, steps: Steps): Files {
  const counting = Object.entries(files).map(([name, call]: [string, (...args: never[]) => unknown]) => [
    name,
    (...args: never[]) => {
      step(steps)
      return call(...args)
    },
  ])
  return Object.fromEntries(counting) as Files
}

export function bucketStore(): Store {
  const bucket = new FakeBucket()
  return {
    name: "s3",
    read: () => new Map([...bucket.objects].map(([key, { bytes }]) => [key, bytes])),
    write(key, bytes) {
      bucket.objects.delete(key)
      if (bytes !== undefined) bucket.put(key, bytes)
    },
    isLog: (key) => !key.includes("docs"),
    open(steps) {
      const { store, storage } = openStorage(bucket, SMALL_SIZES)
      store.fault = (_, proceed) => {
        step(steps)
        return proceed()
      }
      return storage
    },
    remove() {},
  }
}

export function memoryStore(): Store {
  const location = createMemoryLocation()
  return {
    name: "memory",
    read: () => new Map(),
    write() {},
    isLog: () => true,
    open(steps) {
      const storage = createMemoryStorage({ location })
      return {
        ...storage,
        head(...args) {
          step(steps)
          return storage.head(...args)
        },
        async *read(...args) {
          for await (const chunk of storage.read(...args)) {
            step(steps)
            yield chunk
          }
        },
      }
    },
    remove() {},
  }
}
