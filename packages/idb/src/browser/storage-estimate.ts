/** What the browser says of the space that this site may use. Engines without `navigator.storage` (WebKitGTK) say nothing. */

export interface Room {
  /** Bytes that this site uses, and may use; both are the browser's estimates for all that the site keeps. */
  readonly usage: number
  readonly quota: number
}

/**
 * Asks the browser not to clear this site's data when the disk fills up. It may ask the person, or decide by itself; false where it
 * refuses, and where it cannot be asked: in workers, on insecure pages, in engines without it.
 */
export async function persist(): Promise<boolean> {
  return (await manager()?.persist?.()) ?? false
}

/** Whether it has been promised; false where nobody can say. */
export async function persisted(): Promise<boolean> {
  return (await manager()?.persisted?.()) ?? false
}

/** Missing where the browser does not say. */
export async function estimate(): Promise<Room | undefined> {
  const { usage, quota } = (await manager()?.estimate?.()) ?? {}
  return usage === undefined || quota === undefined ? undefined : { usage, quota }
}

function manager(): Partial<StorageManager> | undefined {
  return (globalThis as { navigator?: { storage?: Partial<StorageManager> } }).navigator?.storage
}
