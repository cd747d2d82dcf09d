/** IndexedDB in memory, for tests that run where there is none. What is tested with it is not the engine but what is stored in it. */
import * as fake from "fake-indexeddb"

/** Makes the globals of the runtime those of IndexedDB in memory. */
export function useIndexedDbInMemory(): void {
  const { default: _, ...globals } = fake
  Object.assign(globalThis, globals)
}
