/** Stores the settings of the model in `sessionStorage`, so that they end with the tab, and those of the server in `localStorage`. */
import type { EndpointSettings } from "../agent/endpoint.ts"

/** Where the sessions are kept in step with other devices. */
export interface Server {
  /** Where `createStorageHandler` answers. */
  readonly url: string
  readonly token: string
}

/** Undefined selects the stand-in. */
export function loadEndpoint(): EndpointSettings | undefined {
  return load(() => sessionStorage, "endpoint") as EndpointSettings | undefined
}

/** If the browser stores nothing, the settings last until a reload. */
export function saveEndpoint(endpoint: EndpointSettings | undefined): void {
  save(() => sessionStorage, "endpoint", endpoint)
}

/** Undefined if sync is off. The token must outlive the tab, so that the next start is in step without asking. */
export function loadServer(): Server | undefined {
  return load(() => localStorage, "server") as Server | undefined
}

export function saveServer(server: Server | undefined): void {
  save(() => localStorage, "server", server)
}

/** The getters throw if the browser stores nothing for this page. */
function load(storage: () => Storage, name: string): unknown {
  try {
    const text = storage().getItem(name)
    return text === null ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

function save(storage: () => Storage, name: string, value: object | undefined): void {
  try {
    if (value === undefined) storage().removeItem(name)
    else storage().setItem(name, JSON.stringify(value))
  } catch {
    // Nothing is stored.
  }
}
