// A bot by somebody else's library: bot.js grammy|telegraf API_ROOT TOKEN
const [library, apiRoot, token] = process.argv.slice(2)
const page = { parse_mode: 'HTML', reply_markup: { inline_keyboard: [[{ text: 'More', callback_data: 'more' }]] } }
let bot
if (library === 'grammy') {
  const { Bot, InputFile } = require('grammy')
  bot = new Bot(token, { client: { apiRoot } })
  bot.command('start', ctx => ctx.reply('<b>Welcome</b> &amp; hello', page))
  bot.on('callback_query:data', async ctx => {
    await ctx.answerCallbackQuery({ text: 'here you are' })
    await ctx.editMessageText('more of ' + ctx.callbackQuery.data)
  })
  bot.on('message:document', async ctx => {
    const file = await ctx.getFile()
    const content = Buffer.from(await (await fetch(`${apiRoot}/file/bot${token}/${file.file_path}`)).arrayBuffer())
    await ctx.replyWithDocument(new InputFile(content, 'again-' + ctx.message.document.file_name), { caption: ctx.message.caption })
  })
  bot.on('message:text', ctx => ctx.reply('echo: ' + ctx.message.text, { reply_parameters: { message_id: ctx.message.message_id } }))
  bot.catch(err => console.error(err.error))
} else {
  const { Telegraf } = require('telegraf')
  bot = new Telegraf(token, { telegram: { apiRoot } })
  bot.start(ctx => ctx.reply('<b>Welcome</b> &amp; hello', page))
  bot.on('callback_query', async ctx => {
    await ctx.answerCbQuery('here you are')
    await ctx.editMessageText('more of ' + ctx.callbackQuery.data)
  })
  bot.on('document', async ctx => {
    const link = await ctx.telegram.getFileLink(ctx.message.document.file_id)
    const content = Buffer.from(await (await fetch(link)).arrayBuffer())
    await ctx.replyWithDocument({ source: content, filename: 'again-' + ctx.message.document.file_name }, { caption: ctx.message.caption })
  })
  bot.on('text', ctx => ctx.reply('echo: ' + ctx.message.text, { reply_parameters: { message_id: ctx.message.message_id } }))
  bot.catch(err => console.error(err))
  bot.start = bot.launch
}
bot.start()
