/** The storages that are fuzzed, with access to what they store: over files, a bucket in memory, IndexedDB in memory, SQLite and in memory. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type Files, nodeFiles } from "@sessions/fs"
import { createMemoryLocation, createMemoryStorage } from "../../../packages/memory/src/index.ts"
import { FakeBucket } from "../../../packages/s3/test/fake-bucket.ts"
import { openStorage, SMALL_SIZES } from "../../../packages/s3/test/open-storage.ts"
import type { Json } from "./mutate.ts"

export interface Steps {
  count: number
  readonly most: number
}

/** Of stored bytes: the log itself, which reading must not change; derived data, whose damage changes no answer; or other data. */
export type Kind = "log" | "derived" | "data"

/** The lines `from` to `to` (exclusive). */
export type Extent = readonly [from: number, to: number]

export type Stored = Map<string, Uint8Array>

export interface Store {
  readonly name: string
  /** Everything that is stored, by path, key or row. Empty for a storage whose bytes cannot be damaged. */
  read(): Promise<Stored>
  write(path: string, bytes: Uint8Array | undefined): Promise<void>
  kindOf(path: string): Kind
  /** Whether it is a row of a database, as JSON. */
  isRow(path: string): boolean
  /** The lines that damage to this path may change, of a log that is not damaged yet. */
  extentOf(path: string, stored: Stored): Extent
  /** Keeps what is stored; the returned function puts it back. No storage is open at either. */
  snapshot(): Promise<() => Promise<void>>
  /** A new storage over the bytes. Each step of its I/O counts. */
  open(steps: Steps): SessionStorage
  remove(): Promise<void>
}

export const ALL: Extent = [0, Number.POSITIVE_INFINITY]
export const NOTHING: Extent = [0, 0]

/** Throws an error without a code, which is a finding. */
export function step(steps: Steps): void {
  if (++steps.count > steps.most) throw new TypeError(`No end after ${steps.most} steps of I/O`)
}

/** The object with each call of its functions counted as a step. */
export function counted<T extends object>(object: T, steps: Steps): T {
  const counting = Object.entries(object).map(([name, value]: [string, unknown]) => [
    name,
    typeof value !== "function"
      ? value
      : (...args: unknown[]): unknown => {
          step(steps)
          return value.apply(object, args)
        },
  ])
  return Object.fromEntries(counting) as T
}

/** In memory if the system has such a place: what is tested is not the disk. */
export function makeFolder(): string {
  return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-fuzz-"))
}

const CLOCK_STEP_MS = 20

export function fileStore(maxPartBytes: number): Store {
  const root = makeFolder()
  const isPart = (path: string): boolean => /^s\/session[^/]*\.jsonl$/.test(path)
  return {
    name: "fs",
    read: async () =>
      new Map(
        readdirSync(root, { withFileTypes: true, recursive: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .map((path) => [relative(root, path), readFileSync(path)] as const),
      ),
    async write(path, bytes) {
      if (bytes === undefined) return rmSync(join(root, path))
      mkdirSync(join(root, dirname(path)), { recursive: true })
      const before = statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
      writeFileSync(join(root, path), bytes)
      // A change within the step of the clock in which the storage has written would have the times of what it wrote.
      const later = (Math.max(Date.now(), before) + CLOCK_STEP_MS) / 1_000
      utimesSync(join(root, path), later, later)
    },
    kindOf: (path) => (isPart(path) ? "log" : /\.marks$|metadata\.json$|^\.rolled/.test(path) ? "derived" : "data"),
    isRow: () => false,
    extentOf(path, stored) {
      if (!isPart(path)) return NOTHING
      const firsts = [...stored.keys()].filter(isPart).map(firstSeq)
      const from = firstSeq(path)
      return [from, Math.min(...firsts.filter((first) => first > from))]
    },
    async snapshot() {
      const aside = `${root}-aside`
      cpSync(root, aside, { recursive: true, preserveTimestamps: true })
      return async () => {
        rmSync(root, { recursive: true })
        cpSync(aside, root, { recursive: true, preserveTimestamps: true })
      }
    },
    open: (steps) => createFileStorage({ root, maxPartBytes, files: counted<Files>(nodeFiles, steps) }),
    async remove() {
      for (const folder of [root, `${root}-aside`]) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of the part with this name. */
function firstSeq(path: string): number {
  return Number(/\.(\d+)\.jsonl$/.exec(path)?.[1] ?? 0)
}

export function bucketStore(): Store {
  const bucket = new FakeBucket()
  return {
    name: "s3",
    read: async () => new Map([...bucket.objects].map(([key, { bytes }]) => [key, bytes])),
    async write(key, bytes) {
      bucket.objects.delete(key)
      if (bytes !== undefined) bucket.put(key, bytes)
    },
    kindOf: (key) => (isDocument(key) ? "data" : "log"),
    isRow: () => false,
    extentOf(path, stored) {
      if (isDocument(path)) return NOTHING
      return segmentsOf(stored).get(path.slice(path.lastIndexOf("/") + 1)) ?? ALL
    },
    async snapshot() {
      const objects = [...bucket.objects]
      return async () => {
        bucket.objects.clear()
        for (const [key, object] of objects) bucket.objects.set(key, object)
      }
    },
    open(steps) {
      const { store, storage } = openStorage(bucket, SMALL_SIZES)
      store.fault = (_, proceed) => {
        step(steps)
        return proceed()
      }
      return storage
    },
    async remove() {},
  }
}

/** The name of a segment is random, so it may have any letters. */
function isDocument(key: string): boolean {
  return /^(?:session-)?docs\//.test(key)
}

/** The lines of each segment, as the manifest has them. */
function segmentsOf(stored: Stored): ReadonlyMap<string, Extent> {
  const tail = [...stored].find(([key]) => key.startsWith("tails/"))?.[1] ?? new Uint8Array()
  const manifest = JSON.parse(Buffer.from(tail).toString("utf8").split("\n", 1)[0] ?? "") as Json
  const segments = manifest["segments"] as readonly {
    name: string
    from: number
    pieces: readonly [number, number][]
  }[]
  return new Map(
    segments.map(({ name, from, pieces }) => [name, [from, from + pieces.reduce((sum, [lines]) => sum + lines, 0)]]),
  )
}

export function memoryStore(): Store {
  const location = createMemoryLocation()
  return {
    name: "memory",
    read: async () => new Map(),
    async write() {},
    kindOf: () => "log",
    isRow: () => false,
    extentOf: () => NOTHING,
    snapshot: async () => async () => undefined,
    open: (steps) => countedStorage(createMemoryStorage({ location }), steps),
    async remove() {},
  }
}

/** For a storage whose I/O cannot be counted. */
function countedStorage(storage: SessionStorage, steps: Steps): SessionStorage {
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
}
