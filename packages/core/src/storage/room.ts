/** Code that comes by `import()`, so that a page does not load it before it is needed. */
import { StorageError } from "./errors.ts"

export interface Room<T> {
  /** Undefined until it was loaded. */
  readonly now: T | undefined
  /** `unavailable` where its code cannot be had: nothing was done. The next call tries again. */
  load(): Promise<T>
  /**
   * Begins to load what is needed when something goes wrong, while all is well: a page may be offline by then. A failure is told to
   * whoever needs it. Not before what was asked for has had its turn: even code that is there already takes a while to be imported.
   */
  prefetch(): void
}

/** `what` it is needed for, in the middle of a sentence. */
export function room<T>(what: string, load: () => Promise<T>): Room<T> {
  let now: T | undefined
  const entered: Room<T> = {
    get now() {
      return now
    },
    async load() {
      try {
        now ??= await load()
        return now
      } catch (cause) {
        const message = `The code for ${what} could not be loaded, and nothing was changed: this page is offline, or its files were replaced. Try again, or load the page anew.`
        throw new StorageError("unavailable", message, { cause })
      }
    },
    prefetch() {
      if (now === undefined) setTimeout(() => entered.load().catch(() => undefined), 0)
    },
  }
  return entered
}
