// A Telegram by somebody else: server.js PORT
const TelegramServer = require('telegram-test-api')
const server = new TelegramServer({ port: Number(process.argv[2]), host: '127.0.0.1' })
server.start().then(() => console.log('ready'))
