// A bot that uses a library by somebody else, whose addresses are constants.
const { Bot } = require('qq-official-bot')

const server = process.env.QQ_URL
const bot = new Bot({
  appid: process.env.QQ_APP_ID,
  secret: process.env.QQ_SECRET,
  mode: 'websocket',
  intents: ['GROUP_AND_C2C_EVENT'],
  logLevel: 'off',
})
bot.request.interceptors.request.use((config) => {
  config.baseURL = server
  config.url = config.url.replace('https://bots.qq.com', server)
  return config
})

const answer = async (event) => {
  const said = event.raw_message || event.content || ''
  if (said.includes('picture')) {
    await event.reply({ type: 'image', data: { file: Buffer.from('a picture') } })
  } else {
    await event.reply('echo: ' + said.trim())
  }
}
const tell = (event) => answer(event).catch((err) => console.log('failed ' + err.message))
bot.on('message.private', tell)
bot.on('message.group', tell)
bot.start().then(() => console.log('ready'))
