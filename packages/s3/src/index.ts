export type { Collected } from "./collect.ts"
export type { S3Probe } from "./probe.ts"
export type { S3Tuning } from "./settings.ts"
export type { ObjectStorageOptions, S3Storage, S3StorageOptions } from "./storage.ts"
export { createObjectStorage, createS3Storage } from "./storage.ts"
export type {
  EtagForm,
  GetOptions,
  ListedObject,
  ObjectInfo,
  ObjectPage,
  ObjectStore,
  PutCondition,
  PutOptions,
  PutResult,
  RequestOptions,
  StoredObject,
  StoreFailure,
} from "./store/object-store.ts"
export { ObjectStoreError } from "./store/object-store.ts"
export { createS3ObjectStore } from "./store/s3-store.ts"
export type { Time } from "./time.ts"
