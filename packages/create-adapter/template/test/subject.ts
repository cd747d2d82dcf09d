/** What the suite needs: it makes locations, opens storages on them, and breaks them. */
import type { Subject } from "@sessions/conformance"
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { createMyStoreStorage } from "../src/storage.ts"
import type { Location } from "../src/store.ts"
import { type Fault, type Faults, openWith, type Process } from "./faults.ts"

interface Place {
  readonly location: Location
  readonly faults: Faults
}

const processes = new WeakMap<SessionStorage, Process>()
const arm = (fault: Fault) => (place: Place) => {
  place.faults.armed = fault
}

const subject: Subject<Place> = {
  name: "my-store",
  // New and empty for each case: a temporary folder, a prefix, a schema. `removeLocation` removes it.
  makeLocation: () => ({ location: new Map(), faults: { armed: undefined } }),
  removeLocation: ({ location }) => location.clear(),
  // Opened twice at one location, it is two writers.
  open({ location, faults }) {
    const process = { isDead: false }
    const storage = createMyStoreStorage(location, openWith(faults, process))
    processes.set(storage, process)
    return storage
  },

  // The other features find the worst bugs. Keep those that your store can have.
  crash(storage) {
    const process = processes.get(storage)
    if (process !== undefined) process.isDead = true
  },
  faults: {
    quota: arm("quota"),
    requestLost: arm("requestLost"),
    responseLost: arm("responseLost"),
    busy: arm("busy"),
  },
  corruptLine({ location }, session, seq) {
    const { log } = JSON.parse(new TextDecoder().decode(location.get(`heads/${session}`))) as { log: string }
    location.get(`lines/${log}/${String(seq).padStart(16, "0")}`)?.fill(0xff, 0, 1)
  },
  corruptHead({ location }, session) {
    location.get(`heads/${session}`)?.fill(0xff, 0, 1)
  },
  contains({ location }, text) {
    return [...location.values()].some((value) => new TextDecoder().decode(value).includes(text))
  },
}
export default subject

/** For the runners of Bun and Deno, whose tests cannot skip themselves. */
export const capabilities: Capabilities = createMyStoreStorage(new Map()).capabilities
