/** Runs a step, and undoes the steps before it if it fails, so that an error means that nothing happened. */
import { StorageError } from "@sessions/core/storage"

/**
 * Returns the result of `work`. If that fails, `undo` runs and the error is passed on; if `undo` fails too, the error is
 * `indeterminate` with `what`, a sentence on what may be there.
 */
export async function orUndo<T>(work: () => Promise<T>, undo: () => void | Promise<void>, what: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    try {
      await undo()
    } catch (second) {
      throw new StorageError("indeterminate", what, { cause: new AggregateError([error, second]) })
    }
    throw error
  }
}
