/** Steps that must be taken back where what follows fails, since the caller is told that nothing happened. */
import { StorageError } from "@sessions/core/storage"

/**
 * The outcome of the work. Where it fails, what had been done before it is undone and the error goes on; where that fails as well,
 * `indeterminate`: `what` is a sentence on what may be there.
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
