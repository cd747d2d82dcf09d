/** The connections of clients to their server, on which appends are lost, late or refused. */
import type { Faults } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"

/** What happens to the next append on its way. */
type Fault = (send: () => Promise<Response>) => Promise<Response>

export interface Connection {
  fault: Fault | undefined
}

/** The connection of each open storage of a location. */
type Open = Map<SessionStorage, Connection>

export function fetchOn(connection: Connection, open: Open): (url: string, init: RequestInit) => Promise<Response> {
  return (url, init) => {
    const { fault } = connection
    if (fault === undefined || init.method !== "POST" || !/\/lines(\?|$)/.test(url)) return fetch(url, init)
    for (const other of open.values()) other.fault = undefined
    return fault(() => fetch(url, init))
  }
}

export const faultsOfConnections: Required<
  Pick<Faults<{ readonly open: Open }>, "requestLost" | "responseLost" | "late" | "busy">
> = {
  requestLost: ({ open }) => arm(open, () => lost()),
  responseLost: ({ open }) =>
    arm(open, async (send) => {
      await send()
      return lost()
    }),
  late({ open }) {
    let deliver = async (): Promise<void> => undefined
    arm(open, (send) => {
      deliver = async () => void (await send())
      return lost()
    })
    return () => deliver()
  },
  // As the handler tells it of the store behind it: from another server on the way a 503 proves nothing.
  busy: ({ open }) =>
    arm(open, async () => Response.json({ error: { code: "unavailable", message: "busy" } }, { status: 503 })),
}

function arm(open: Open, fault: Fault): void {
  for (const connection of open.values()) connection.fault = fault
}

function lost(): Promise<never> {
  return Promise.reject(new TypeError("fetch failed"))
}
