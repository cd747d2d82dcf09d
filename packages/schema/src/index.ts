export const schemaVersion = 4 as const
