"""A bot by python-telegram-bot: bot.py API_ROOT TOKEN"""
import io
import sys

from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.ext import CallbackQueryHandler, CommandHandler, Filters, MessageHandler, Updater

root, token = sys.argv[1:]
updater = Updater(token, base_url=root + "/bot", base_file_url=root + "/file/bot")


def start(update, _):
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("More", callback_data="more")]])
    update.message.reply_text("<b>Welcome</b> &amp; hello", parse_mode="HTML", reply_markup=keyboard)


def clicked(update, _):
    update.callback_query.answer(text="here you are")
    update.callback_query.edit_message_text("more of " + update.callback_query.data)


def document(update, context):
    content = bytes(context.bot.get_file(update.message.document.file_id).download_as_bytearray())
    name = "again-" + update.message.document.file_name
    update.message.reply_document(io.BytesIO(content), filename=name, caption=update.message.caption)


def text(update, _):
    update.message.reply_text("echo: " + update.message.text, quote=True)


for handler in (
    CommandHandler("start", start),
    CallbackQueryHandler(clicked),
    MessageHandler(Filters.document, document),
    MessageHandler(Filters.text, text),
):
    updater.dispatcher.add_handler(handler)
updater.start_polling()
updater.idle()
