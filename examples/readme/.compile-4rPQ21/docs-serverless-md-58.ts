import { S3Client } from "@aws-sdk/client-s3"
import { createS3Storage } from "@sessions/s3"

const storage = createS3Storage({ client: new S3Client(), bucket: process.env.BUCKET!, prefix: "prod" })
console.log(await storage.probe()) // S3: { safe: true, etags: "quoted", versioned: false }
export {}
