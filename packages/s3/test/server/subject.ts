import type { Sizes, Subject } from "@sessions/conformance"
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import {
  createObjectStorage,
  createS3ObjectStore,
  type EtagForm,
  type ObjectStore,
  ObjectStoreError,
} from "@sessions/s3"
import { BUCKET, client, makeBucket, newPrefix, openAt } from "./test-server.ts"

/** Small limits, so that the cases that exceed them are fast; all other options have their defaults. */
const OPTIONS = { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 }

export interface ServerLocation {
  readonly prefix: string
  /** The connection of each open storage. */
  readonly open: Map<SessionStorage, Connection>
}

/** The connection of a storage to the server, into which faults are injected. */
interface Connection {
  dead: boolean
  /** Handles the next PUT of a tail. */
  fault: ((send: () => Promise<unknown>) => Promise<never>) | undefined
}

/** Probed once for all of the hundred locations. */
let etags: EtagForm | undefined

export const server: Subject<ServerLocation> = {
  name: "s3 server",
  async makeLocation() {
    await makeBucket()
    etags ??= (await openAt("").probe()).etags as EtagForm
    return { prefix: newPrefix(), open: new Map() }
  },
  open({ prefix, open }) {
    const connection: Connection = { dead: false, fault: undefined }
    const store = connectioned(connection, open)
    const form = etags === undefined ? {} : { etags }
    const storage = createObjectStorage({ ...OPTIONS, ...form, store, name: `s3:${BUCKET}`, prefix })
    open.set(storage, connection)
    return storage
  },
  async corruptHead({ prefix }, session) {
    await createS3ObjectStore(client, BUCKET).put(`${prefix}/tails/${session}`, Buffer.from("damaged\n"))
  },
  crash(storage, { open }) {
    const connection = open.get(storage)
    if (connection !== undefined) connection.dead = true
  },
  faults: {
    quota: (location) => arm(location, async () => fail("quota", true)),
    requestLost: (location) => arm(location, async () => fail("network", false)),
    responseLost: (location) =>
      arm(location, async (send) => {
        await send()
        return fail("network", false)
      }),
  },
}

export const capabilities: Capabilities = openAt("", OPTIONS).capabilities

/** Smaller than by default: a request takes milliseconds, and three runtimes share one server. */
export const sizes: Partial<Sizes> = { race: 8, lines: 500 }

function arm({ open }: ServerLocation, fault: Connection["fault"]): void {
  for (const connection of open.values()) connection.fault = fault
}

function fail(failure: "quota" | "network", certain: boolean): never {
  throw new ObjectStoreError(failure, "injected", { certain })
}

function connectioned(connection: Connection, open: ServerLocation["open"]): ObjectStore {
  const store = createS3ObjectStore(client, BUCKET)
  // No request of a dead process reaches the server, and none stays pending.
  const alive = async <T>(send: () => Promise<T>): Promise<T> => {
    if (connection.dead) throw new ObjectStoreError("refused", "the process is dead", { certain: false })
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
        const { fault } = connection
        if (fault === undefined || !key.includes("/tails/")) return send()
        for (const other of open.values()) other.fault = undefined
        return fault(send)
      }),
  }
}
