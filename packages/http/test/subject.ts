/** The storage over HTTP as a subject: a real server of the runtime, with a file storage for each location behind it. */
import type { Subject } from "@sessions/conformance"
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { connectHttpStorage } from "@sessions/http/client"
import { createStorageHandler } from "@sessions/http/server"
import { capabilities as ofFiles, fileSystem, type Place } from "../../fs/test/subject.ts"
import { type Connection, faultsOfConnections, fetchOn } from "./connections.ts"
import type { Serve } from "./servers/serve.ts"

export interface HttpLocation {
  readonly token: string
  readonly place: Place
  /** The connection of each open storage. */
  readonly open: Map<SessionStorage, Connection>
}

/** Small, so that the cases that exceed it are fast. */
const BATCH_BYTES = 4_000_000

/** For runners that must know before a case starts. */
export const capabilities: Capabilities = {
  ...ofFiles,
  writers: "any",
  replace: false,
  maxBatchBytes: BATCH_BYTES,
  maxLineBytes: BATCH_BYTES - 1,
}

export function createHttpSubject(name: string, serve: Serve): Subject<HttpLocation> {
  const places = new Map<string, { readonly place: Place; storage?: SessionStorage | undefined }>()
  const storageOf = async (token: string): Promise<SessionStorage> => {
    const one = places.get(token)
    if (one === undefined) throw new Error("there is no such location")
    return (one.storage ??= await fileSystem.open(one.place))
  }
  const handler = createStorageHandler({
    authorize: (request) => request.headers.get("authorization"),
    storage: storageOf,
    basePath: "/api/storage",
    limits: { batchBytes: BATCH_BYTES },
    onError: () => undefined,
  })
  let served: Promise<string> | undefined

  /** Closes the storage of the server, which opens another one at the next request. */
  async function release({ token }: HttpLocation): Promise<void> {
    const one = places.get(token)
    const storage = one?.storage
    if (one !== undefined) one.storage = undefined
    await storage?.[Symbol.asyncDispose]()
  }

  const files = fileSystem
  return {
    name,
    async makeLocation() {
      const place = await fileSystem.makeLocation()
      const token = `location-${places.size}`
      places.set(token, { place })
      return { token, place, open: new Map() }
    },
    async open({ token, open }) {
      served ??= serve(handler)
      const connection: Connection = { fault: undefined }
      const storage = await connectHttpStorage({
        url: `${(await served).replace(/\/$/, "")}/api/storage`,
        headers: { authorization: token },
        fetch: fetchOn(connection, open),
      })
      open.set(storage, connection)
      return storage
    },
    async removeLocation(location) {
      await release(location)
      await files.removeLocation?.(location.place)
    },
    async tearTail(location, session, bytes) {
      await release(location)
      await files.tearTail?.(location.place, session, bytes)
    },
    async corruptLine(location, session, seq) {
      await release(location)
      await files.corruptLine?.(location.place, session, seq)
    },
    async corruptHead(location, session) {
      await release(location)
      await files.corruptHead?.(location.place, session)
    },
    contains: async ({ place }, text) => (await files.contains?.(place, text)) ?? false,
    // The server crashes, too.
    async crash(_, { token, place }) {
      const one = places.get(token)
      if (one?.storage === undefined) return
      await files.crash?.(one.storage, place)
      one.storage = undefined
    },
    faults: {
      quota: ({ place }) => files.faults?.quota?.(place),
      ...faultsOfConnections,
      removal: async ({ place }) => (await files.faults?.removal?.(place)) ?? (() => undefined),
    },
  }
}
