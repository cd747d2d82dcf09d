export function isShown(printed: readonly string[], shown: readonly string[]): boolean
