/** The storage over HTTP as a subject in a page. */
import type { Subject } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"
import { connectHttpStorage } from "@sessions/http/client"
import { type Connection, faultsOfConnections, fetchOn } from "./connections.ts"

export interface PageLocation {
  readonly token: string
  readonly open: Map<SessionStorage, Connection>
}

export function createPageSubject(name: string, url: string): Subject<PageLocation> {
  return {
    name,
    makeLocation: () => ({ token: crypto.randomUUID(), open: new Map() }),
    async open({ token, open }) {
      const connection: Connection = { fault: undefined }
      const storage = await connectHttpStorage({
        url,
        headers: { authorization: token },
        fetch: fetchOn(connection, open),
      })
      open.set(storage, connection)
      return storage
    },
    faults: faultsOfConnections,
  }
}
