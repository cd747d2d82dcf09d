import type { Sizes, Subject } from "@sessions/conformance"
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import type { EtagForm, ObjectStore } from "@sessions/s3"
import { createObjectStorage, createS3ObjectStore, ObjectStoreError } from "@sessions/s3"
import { BUCKET, client, makeBucket, newPrefix, openAt } from "./test-server.ts"

/** Limits that are tried at once; the sizes of everything else as users have them. */
const OPTIONS = { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 }

export interface ServerPlace {
  readonly prefix: string
  /** What becomes of each storage's requests. */
  readonly open: Map<SessionStorage, Link>
}

/** Between a storage and the server. */
interface Link {
  dead: boolean
  /** In the place of the next write of a tail. */
  fault: ((send: () => Promise<unknown>) => Promise<never>) | undefined
}

/** Tried out once, not for each of the hundred places. */
let etags: EtagForm | undefined

export const server: Subject<ServerPlace> = {
  name: "s3 server",
  async makeLocation() {
    await makeBucket()
    etags ??= (await openAt("").probe()).etags as EtagForm
    return { prefix: newPrefix(), open: new Map() }
  },
  open({ prefix, open }) {
    const link: Link = { dead: false, fault: undefined }
    const store = linked(link, open)
    const form = etags === undefined ? {} : { etags }
    const storage = createObjectStorage({ ...OPTIONS, ...form, store, name: `s3:${BUCKET}`, prefix })
    open.set(storage, link)
    return storage
  },
  crash(storage, { open }) {
    const link = open.get(storage)
    if (link !== undefined) link.dead = true
  },
  faults: {
    quota: (place) => arm(place, async () => fail("quota", true)),
    requestLost: (place) => arm(place, async () => fail("network", false)),
    responseLost: (place) =>
      arm(place, async (send) => {
        await send()
        return fail("network", false)
      }),
  },
}

export const capabilities: Capabilities = openAt("", OPTIONS).capabilities

/** A request takes milliseconds here, and three runtimes share one server. */
export const sizes: Partial<Sizes> = { race: 8, lines: 500 }

function arm({ open }: ServerPlace, fault: Link["fault"]): void {
  for (const link of open.values()) link.fault = fault
}

function fail(failure: "quota" | "network", certain: boolean): never {
  throw new ObjectStoreError(failure, "injected", { certain })
}

function linked(link: Link, open: ServerPlace["open"]): ObjectStore {
  const store = createS3ObjectStore(client, BUCKET)
  // Nothing of a dead process reaches the server any more, and nothing of it waits.
  const alive = async <T>(send: () => Promise<T>): Promise<T> => {
    if (link.dead) throw new ObjectStoreError("refused", "the process is dead", { certain: false })
    return send()
  }
  return {
    get: (key, o) => alive(() => store.get(key, o)),
    head: (key, o) => alive(() => store.head(key, o)),
    list: (prefix, o) => alive(() => store.list(prefix, o)),
    delete: (key, o) => alive(() => store.delete(key, o)),
    put: (key, bytes, o) =>
      alive(() => {
        const send = (): ReturnType<ObjectStore["put"]> => store.put(key, bytes, o)
        const { fault } = link
        if (fault === undefined || !key.includes("/tails/")) return send()
        for (const other of open.values()) other.fault = undefined
        return fault(send)
      }),
  }
}
