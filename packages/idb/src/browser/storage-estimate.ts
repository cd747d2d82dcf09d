/** The browser's `navigator.storage`: persistence and quota. Missing in some engines (WebKitGTK) and on insecure pages, and refused in sandboxed frames. */

export interface StorageEstimate {
  /** Bytes that this site uses, as estimated by the browser, for everything that it stores. */
  readonly usage: number
  /** Bytes that it may use. */
  readonly quota: number
}

/** Asks the browser not to clear this site's data when the disk fills up. False if it refuses or cannot be asked, as in workers. */
export async function persist(): Promise<boolean> {
  return (await ask((manager) => manager.persist())) ?? false
}

/** Whether the browser has granted that; false if it is unknown. */
export async function persisted(): Promise<boolean> {
  return (await ask((manager) => manager.persisted())) ?? false
}

/** Undefined if the browser gives no estimate. */
export async function estimate(): Promise<StorageEstimate | undefined> {
  const { usage, quota } = (await ask((manager) => manager.estimate())) ?? {}
  return usage === undefined || quota === undefined ? undefined : { usage, quota }
}

/** Undefined if the browser has no answer: the functions are missing, or refused, as in a sandboxed frame. */
async function ask<T>(question: (manager: StorageManager) => Promise<T>): Promise<T | undefined> {
  try {
    return await question(navigator.storage)
  } catch {
    return undefined
  }
}
